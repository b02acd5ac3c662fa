// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that receiver_schema.hpp declares.
#pragma once

#include <settle/sqlite/receiver_schema.hpp>

SETTLE_BEGIN
namespace sqlite::detail {

SETTLE_FUNCTION void create_receiver_tables(connection const& on, std::string const& name) {
    constexpr auto action = "create the tables of a receiver";
    // `ends` is NULL while the row must stay, so that a purge looks at no other row.
    on.execute("CREATE TABLE settle_receiver(key TEXT PRIMARY KEY NOT NULL, status TEXT NOT NULL, "
               "answer TEXT NOT NULL, service TEXT NOT NULL, txn TEXT NOT NULL, "
               "participant TEXT NOT NULL, line INTEGER, has_apply INTEGER NOT NULL, "
               "last_moment INTEGER NOT NULL, created INTEGER NOT NULL, "
               "modified INTEGER NOT NULL, ends INTEGER) WITHOUT ROWID",
               action);
    on.execute("CREATE INDEX settle_receiver_ends ON settle_receiver(ends) WHERE ends IS NOT NULL",
               action);
    on.execute("CREATE TABLE settle_receiver_meta(name TEXT PRIMARY KEY NOT NULL, "
               "value TEXT NOT NULL) WITHOUT ROWID",
               action);
    statement const insert{on, "INSERT INTO settle_receiver_meta(name, value) VALUES(?1, ?2)",
                           action};
    run{insert, "schema_version", std::to_string(receiver_schema_version)}.change();
    run{insert, "receiver", name}.change();
}

/// A stored value about the receiver; empty if there is none.
SETTLE_FUNCTION std::string receiver_metadata(connection const& on, std::string_view name) {
    statement const look{on, "SELECT value FROM settle_receiver_meta WHERE name = ?1",
                         "read the table settle_receiver_meta"};
    run row{look, name};
    return row.next() ? std::string{row.text(0)} : std::string{};
}

/// True if the file has the tables of this receiver.
/// Errors:  throws settle::failure when the file has the tables of another receiver, or another
///          version of them
SETTLE_FUNCTION bool has_receiver_tables(connection const& on, std::string const& path,
                                         std::string const& name) {
    auto const tables = read_number(on, "SELECT count(*) FROM sqlite_master WHERE name IN "
                                        "('settle_receiver', 'settle_receiver_meta')");
    if (tables == 0) return false;
    if (tables != 2) {
        raise(errc::unfit_store, "settle: '" + path +
                                     "' has only one of the tables settle_receiver and "
                                     "settle_receiver_meta. Restore the other from a copy. "
                                     "See sqlite#receivers");
    }
    auto const version = receiver_metadata(on, "schema_version");
    if (version != std::to_string(receiver_schema_version)) {
        raise(errc::other_version,
              "settle: the tables settle_receiver… in '" + path + "' have version '" + version +
                  "' and this library needs version " + std::to_string(receiver_schema_version) +
                  ". Use the release of settle that wrote the file. See sqlite#receivers");
    }
    auto const owner = receiver_metadata(on, "receiver");
    if (owner == name) return true;
    raise(errc::unfit_store, "settle: '" + path + "' belongs to the receiver '" + owner +
                                 "', and this is '" + name +
                                 "'. Name another file. See sqlite#receivers");
}

SETTLE_FUNCTION void prepare_receiver_file(writer& with, std::string const& path,
                                           std::chrono::milliseconds patience,
                                           std::string const& name) {
    connection const& on = with.on();
    if (name.empty() || !is_utf8(name)) {
        raise(errc::bad_text, "settle: the name of the receiver in '" + path +
                                  "' is empty or is no text. Give it a name. "
                                  "See sqlite#receivers");
    }
    check_links(on, path);
    bool const found = has_receiver_tables(on, path, name);
    open_for_writing(with, path, patience);
    // A commit is synced before its answer. A handler's write must keep the service's foreign keys.
    on.execute("PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON", "set its options");
    with.prepare();
    if (found) return;
    transaction work{with};
    if (!has_receiver_tables(on, path, name)) create_receiver_tables(on, name);
    if (auto const end = work.commit(); end.status != commit_status::committed)
        throw failure(end.problem);
}

} // namespace sqlite::detail
SETTLE_END
