// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that receiver_schema.hpp declares.
#pragma once

#include <settle/sqlite/receiver/receiver_schema.hpp>

#include <settle/adapter/ownership.hpp>
#include <settle/adapter/receiver_table.hpp>

SETTLE_BEGIN
namespace sqlite::detail {

SETTLE_FUNCTION void create_receiver_tables(connection const& connection, std::string const& name) {
    constexpr auto action = "create the tables of a receiver";
    settle::detail::receiver_sql const sql{"settle_receiver", '?'};
    for (auto const& one : sql.create("text PRIMARY KEY NOT NULL", " WITHOUT ROWID")) {
        connection.execute(one, action);
    }
    connection.execute("CREATE TABLE settle_receiver_meta(name TEXT PRIMARY KEY NOT NULL, "
                       "value TEXT NOT NULL) WITHOUT ROWID",
                       action);
    statement const insert{connection,
                           "INSERT INTO settle_receiver_meta(name, value) VALUES(?1, ?2)", action};
    run{insert, "schema_version", std::to_string(receiver_schema_version)}.change();
    run{insert, "receiver", name}.change();
}

/// Whether the file has the tables of this receiver.
/// Errors:  throws settle::failure when the file has the tables of another receiver, or another
///          version of them
SETTLE_FUNCTION bool has_receiver_tables(connection const& connection, std::string const& path,
                                         settle::detail::receiver_storage const& storage,
                                         std::string const& name) {
    auto const tables = read_number(connection, "SELECT count(*) FROM sqlite_master WHERE name IN "
                                                "('settle_receiver', 'settle_receiver_meta')");
    if (tables == 0) return false;
    if (tables != 2) {
        raise(errc::unfit_store, "settle: '" + path +
                                     "' has only one of the tables settle_receiver and "
                                     "settle_receiver_meta. Restore the other from a copy. "
                                     "See sqlite#receivers");
    }
    auto const value_of = [&](std::string_view value) {
        return known_metadata(connection, value, "settle_receiver_meta").value_or("");
    };
    auto const version = value_of("schema_version");
    if (version != std::to_string(receiver_schema_version)) {
        raise(errc::other_version,
              "settle: the tables settle_receiver… in '" + path + "' have version '" + version +
                  "' and this library needs version " + std::to_string(receiver_schema_version) +
                  ". Use the release of settle that wrote the file. See sqlite#receivers");
    }
    storage.check_owner(value_of("receiver"), name);
    return true;
}

SETTLE_FUNCTION void prepare_receiver_file(writer& writer, std::string const& path,
                                           std::chrono::milliseconds patience,
                                           std::string const& name) {
    connection const& connection = writer.on();
    settle::detail::receiver_storage const storage{"'" + path + "'", "file", "sqlite"};
    storage.check_name(name);
    check_links(connection, path);
    auto const has_tables = [&] { return has_receiver_tables(connection, path, storage, name); };
    bool const is_ready = has_tables();
    open_for_writing(writer, path, patience);
    // A commit is synced before its answer. A handler's write must keep the service's foreign keys.
    connection.execute("PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON", "set its options");
    writer.prepare();
    if (is_ready) return;
    transaction work{writer};
    // Another process may have prepared the file meanwhile.
    if (!has_tables()) create_receiver_tables(connection, name);
    if (auto const end = work.commit(); end.status != commit_status::committed)
        throw failure(end.problem);
}

} // namespace sqlite::detail
SETTLE_END
