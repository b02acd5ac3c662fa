// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that schema.hpp declares.
#pragma once

#include <settle/adapter/entry_row.hpp>
#include <settle/adapter/ownership.hpp>
#include <settle/postgresql/connection/schema.hpp>

SETTLE_BEGIN
namespace postgresql::detail {

/// The view of the entries for people.
[[nodiscard]] SETTLE_FUNCTION std::string entries_view(std::string const& schema) {
    using settle::detail::entry_field;
    auto const columns = settle::detail::columns_of_view([](entry_field field) {
        auto column = "e." + std::string{name_of(field)};
        if (!settle::detail::is_time(field)) return column;
        // A time of a wrong clock may have no date.
        return "CASE WHEN " + column + " BETWEEN -62135596800000 AND 253402300799999 THEN " +
               "to_timestamp(" + column + " / 1000.0) END";
    });
    return "CREATE VIEW " + schema + "settle_entries AS SELECT " + columns + " FROM " + schema +
           "settle_entry AS e";
}

SETTLE_FUNCTION void create_tables(connection& connection, std::string const& schema) {
    // Ids and keys are compared by their bytes. `open` is true while an entry is not final: the
    // index of open entries changes only when an entry is inserted and when it ends, and room in
    // the pages for a second version of each row keeps all other changes away from the indexes.
    std::array<std::string, 4> const statements{
        "settle_entry(id text COLLATE \"C\" PRIMARY KEY, state smallint NOT NULL, "
        "epoch bigint NOT NULL, revision bigint NOT NULL DEFAULT 0, committed bigint, "
        "created bigint NOT NULL, modified bigint NOT NULL, attempts bigint NOT NULL, "
        "stages_kept bigint NOT NULL DEFAULT 0, reason smallint, line bigint, "
        "open boolean NOT NULL, type text, definition text, owner text NOT NULL, "
        "participant text, parameters text, images text, results text, reason_text text, "
        "call_tries bigint, next_try bigint, tried_in bigint, traceparent text) WITH "
        "(fillfactor = 50)",
        "settle_mark(collection text COLLATE \"C\", key text COLLATE \"C\", id text COLLATE \"C\", "
        "participant bigint, line bigint, epoch bigint NOT NULL, effect text NOT NULL, "
        "confirm text, undo text, image text, "
        "PRIMARY KEY (collection, key, id, participant, line))",
        "CREATE INDEX settle_entry_open ON " + schema + "settle_entry(id) WHERE open",
        entries_view(schema)};
    for (auto const& sql : statements) {
        bool const table = sql.starts_with("settle_");
        connection.send_sql(table ? "CREATE TABLE " + schema + sql : sql,
                            "create the tables of settle");
    }
}

SETTLE_FUNCTION own_tables const& database_tables() noexcept {
    static constexpr own_tables tables{"settle_", schema_version, &create_tables};
    return tables;
}

/// The name of the table of metadata, as SQL takes it.
[[nodiscard]] SETTLE_FUNCTION std::string meta_of(pool const& pool, own_tables const& tables) {
    return pool.schema_prefix() + std::string{tables.prefix} + "meta";
}

SETTLE_FUNCTION settle::detail::sql::metadata_table<parts> metadata(pool& pool,
                                                                    own_tables const& tables) {
    return {pool, meta_of(pool, tables)};
}

SETTLE_FUNCTION void try_to_prepare_schema(pool& pool, own_tables const& tables) {
    auto const& schema = pool.schema_prefix();
    auto const meta = meta_of(pool, tables);
    // A scan of pg_class sees the state after the lock; to_regclass would see the state before it.
    auto const& look =
        pool.prepare("SELECT EXISTS(SELECT FROM pg_catalog.pg_class WHERE relname = $1 AND "
                     "relnamespace = $2::regnamespace)",
                     {value_type::text, value_type::text}, "look for the tables of settle");
    auto const is_there = [&](connection& connection) {
        auto const number = connection.send(look, std::string{tables.prefix} + "meta",
                                            quoted_name(pool.server().schema));
        connection.sync();
        return connection.result(number).boolean(0, 0);
    };
    bool is_made = false;
    {
        auto lease = pool.take();
        is_made = is_there(*lease);
    }
    if (!is_made) {
        perform_or_throw(pool, [&](connection& connection) {
            // Another program may be creating them.
            connection.send_sql("SELECT pg_advisory_xact_lock(hashtextextended('settle', 0))",
                                "wait for another program that creates the tables of settle");
            if (is_there(connection)) return;
            constexpr auto phase = "create the tables of settle";
            connection.send_sql("CREATE TABLE " + meta +
                                    "(name text COLLATE \"C\" PRIMARY KEY, value text NOT NULL)",
                                phase);
            connection.send_sql("INSERT INTO " + meta + " VALUES('schema_version', '" +
                                    std::string{tables.version} + "')",
                                phase);
            tables.create(connection, schema);
        });
    }
    auto const version = metadata(pool, tables).known("schema_version");
    if (version == tables.version) return;
    raise(errc::other_version,
          "settle: the tables " + schema + std::string{tables.prefix} + "… have version " +
              version.value_or(std::string{"unknown"}) + " and this library needs version " +
              std::string{tables.version} +
              ". Use the release of settle that made them. See postgresql#schema-version");
}

SETTLE_FUNCTION void prepare_schema(pool& pool, own_tables const& tables) {
    settle::detail::sql::repeat_while_held<is_held>([&] { try_to_prepare_schema(pool, tables); });
}

SETTLE_FUNCTION log_home look_home(pool& pool) {
    using namespace settle::detail;
    auto const meta = meta_of(pool, database_tables());
    auto lease = pool.take();
    auto const look = [&](std::string const& cluster) {
        std::string const sql =
            "SELECT 'system=' || " + cluster +
            " || ' database=' || (SELECT oid FROM pg_catalog.pg_database WHERE datname = "
            "current_database()) || ' table=' || " +
            quoted_text(meta) +
            "::regclass::oid || ' name=' || current_database(), (SELECT value " + "FROM " + meta +
            " WHERE name = '" + std::string{home_metadata} + "')";
        auto const number = lease->send_sql(sql, "look where the log is");
        lease->sync();
        auto const& found = lease->result(number);
        return log_home{std::string{found.text(0, 1)}, std::string{found.text(0, 0)}};
    };
    log_home seen;
    try {
        seen = look("(SELECT system_identifier FROM pg_catalog.pg_control_system())");
    } catch (failure const& caught) {
        // The user may not call the function, or a server that is not PostgreSQL's lacks it.
        if (!is_of_one_table(caught.problem().code)) throw;
        seen = look("''");
    }
    if (seen.kept.empty()) return seen;
    seen.is_same = share_parts(seen.kept, seen.present, {"system", "database", "table"});
    // A user with fewer rights must not forget what another user has found.
    bool const lacks = part_of_home(seen.present, "system").empty();
    if (seen.is_same && lacks) seen.present = seen.kept;
    return seen;
}

} // namespace postgresql::detail
SETTLE_END
