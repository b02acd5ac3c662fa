// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that schema.hpp declares.
#pragma once

#include <settle/sqlite/connection/schema.hpp>

#include <settle/adapter/ownership.hpp>

SETTLE_BEGIN
namespace sqlite {
namespace detail {

SETTLE_FUNCTION std::optional<std::int64_t> read_number(connection const& connection,
                                                        std::string_view sql) {
    statement const look{connection, sql, "look at the database"};
    run row{look};
    if (!row.next()) return std::nullopt;
    return row.integer(0);
}

SETTLE_FUNCTION std::string entries_view() {
    using settle::detail::entry_field;
    auto const columns = settle::detail::columns_of_view([](entry_field field) {
        auto column = "e." + std::string{name_of(field)};
        switch (field) {
        case entry_field::type: return std::string{"t.name"};
        case entry_field::definition: return std::string{"t.definition"};
        case entry_field::owner: return std::string{"o.name"};
        case entry_field::committed: return "max(" + column + ", 0)";
        case entry_field::created:
        case entry_field::modified:
        case entry_field::next_try:
            return "strftime('%Y-%m-%dT%H:%M:%fZ', " + column + " / 1000.0, 'unixepoch')";
        default: return column;
        }
    });
    return "CREATE VIEW settle_entries AS SELECT " + columns +
           " FROM settle_entry AS e LEFT JOIN settle_type AS t ON t.number = e.type "
           "LEFT JOIN settle_owner AS o ON o.number = e.owner";
}

SETTLE_FUNCTION void create_tables(connection const& connection) {
    // Types and owners are numbers in an entry, since their texts would be most of it. `open` is 1
    // while an entry is not final, else NULL: its index changes only when an entry is inserted and
    // when it ends. `committed` is 0 or less before the commit. The marks of a record are
    // neighbours; a record with many marks also has a row of bounds.
    std::array<std::string, 9> const statements{
        "CREATE TABLE settle_meta(name TEXT PRIMARY KEY NOT NULL, value TEXT NOT NULL) "
        "WITHOUT ROWID",
        "INSERT INTO settle_meta(name, value) VALUES('schema_version', '" +
            std::to_string(schema_version) + "')",
        "CREATE TABLE settle_type(number INTEGER PRIMARY KEY, name TEXT NOT NULL, "
        "definition TEXT NOT NULL, UNIQUE(name, definition))",
        "CREATE TABLE settle_owner(number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)",
        "CREATE TABLE settle_entry(number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, "
        "type INTEGER, state INTEGER NOT NULL, epoch INTEGER NOT NULL, "
        "committed INTEGER NOT NULL, attempts INTEGER NOT NULL, reason INTEGER NOT NULL, "
        "owner INTEGER NOT NULL, created INTEGER NOT NULL, modified INTEGER NOT NULL, "
        "parameters TEXT, participant TEXT, line INTEGER, images TEXT, open INTEGER, "
        "revision INTEGER NOT NULL DEFAULT 0, stages_kept INTEGER NOT NULL DEFAULT 0, "
        "results TEXT, reason_text TEXT, call_tries INTEGER, next_try INTEGER, tried_in INTEGER, "
        "traceparent TEXT)",
        "CREATE INDEX settle_entry_open ON settle_entry(id) WHERE open = 1",
        "CREATE TABLE settle_mark(id TEXT NOT NULL, participant INTEGER NOT NULL, "
        "line INTEGER NOT NULL, collection TEXT NOT NULL, key NOT NULL, epoch INTEGER NOT NULL, "
        "effect TEXT NOT NULL, confirm TEXT, undo TEXT, image TEXT, "
        "PRIMARY KEY(key, collection, id, participant, line)) WITHOUT ROWID",
        "CREATE TABLE settle_bound(collection TEXT NOT NULL, key NOT NULL, "
        "marks INTEGER NOT NULL, least TEXT, most TEXT, PRIMARY KEY(key, collection)) "
        "WITHOUT ROWID",
        entries_view(),
    };
    for (auto const& sql : statements) {
        connection.execute(sql, "create the tables of settle");
    }
}

SETTLE_FUNCTION bool has_entries_view(connection const& connection) {
    statement const look{connection, "SELECT sql FROM sqlite_master WHERE name = 'settle_entries'",
                         "look at the database"};
    run row{look};
    return row.next() && row.text(0) == entries_view();
}

SETTLE_FUNCTION void renew_entries_view(connection const& connection) {
    constexpr auto action = "make the view settle_entries anew";
    connection.execute("DROP VIEW IF EXISTS settle_entries", action);
    connection.execute(entries_view(), action);
}

SETTLE_FUNCTION bool has_tables(connection const& connection, std::string const& path) {
    constexpr auto table = "SELECT 1 FROM sqlite_master WHERE name = 'settle_meta'";
    if (!read_number(connection, table)) return false;
    auto const version =
        read_number(connection, "SELECT value FROM settle_meta WHERE name = 'schema_version'");
    if (version == schema_version) return true;
    raise(errc::other_version,
          "settle: the tables settle_… in '" + path + "' have version " +
              (version ? std::to_string(*version) : std::string{"unknown"}) +
              " and this library needs version " + std::to_string(schema_version) +
              ". Use the release of settle that wrote the file, or let its transactions end there "
              "and begin a new file. See sqlite#schema-version");
}

SETTLE_FUNCTION void check_names(connection const& connection, std::string const& path) {
    // One statement, since another program may be creating the tables.
    statement const look{connection,
                         "SELECT type, name FROM sqlite_master WHERE lower(name) IN ("
                         "'settle_type', 'settle_owner', 'settle_entry', 'settle_entry_open', "
                         "'settle_mark', 'settle_bound', 'settle_entries', 'settle_wave') AND "
                         "NOT EXISTS(SELECT 1 FROM sqlite_master WHERE name = 'settle_meta')",
                         "look for tables"};
    run row{look};
    if (!row.next()) return;
    raise(errc::unfit_store, "settle: '" + path + "' has the " + std::string{row.text(0)} + " '" +
                                 std::string{row.text(1)} +
                                 "', and settle's own tables are missing. Rename it, or "
                                 "restore the table settle_meta. See sqlite#open-a-file");
}

SETTLE_FUNCTION void check_application(connection const& connection, std::string const& path) {
    auto const id = read_number(connection, "PRAGMA application_id").value_or(0);
    if (id == 0 || id == application_id) return;
    raise(errc::unfit_store, "settle: '" + path +
                                 "' belongs to another application (its application_id is " +
                                 std::to_string(id) +
                                 "). Name another file. "
                                 "See sqlite#open-a-file");
}

SETTLE_FUNCTION void check_encoding(connection const& connection, std::string const& path) {
    statement const look{connection, "PRAGMA encoding", "read the text encoding"};
    run row{look};
    if (!row.next() || row.text(0) == "UTF-8") return;
    raise(errc::unfit_store, "settle: '" + path + "' keeps its texts as " +
                                 std::string{row.text(0)} +
                                 ", which has another order than UTF-8. Copy it into a new file: "
                                 "sqlite3 OLD .dump | sqlite3 NEW. See sqlite#open-a-file");
}

SETTLE_FUNCTION void use_write_ahead_log(connection const& connection, std::string const& path,
                                         std::chrono::milliseconds patience) {
    // At most a day, which can be added to a time.
    auto const until = std::chrono::steady_clock::now() +
                       std::min<std::chrono::milliseconds>(patience, std::chrono::hours{24});
    for (;;) {
        try {
            statement const change{connection, "PRAGMA journal_mode = WAL",
                                   "use a write-ahead log"};
            run row{change};
            if (row.next() && row.text(0) == "wal") return;
            raise(errc::unfit_store,
                  "settle: '" + path +
                      "' cannot have a write-ahead log here, as on most network file systems. Put "
                      "it on a local disk. See sqlite#open-a-file");
        } catch (failure const& problem) {
            if (problem.problem().code != condition::retryable ||
                std::chrono::steady_clock::now() >= until) {
                throw;
            }
        }
        std::this_thread::sleep_for(std::chrono::milliseconds{2});
    }
}

SETTLE_FUNCTION void open_for_writing(writer& writer, std::string const& path,
                                      std::chrono::milliseconds patience) {
    connection const& connection = writer.on();
    if (connection.read_only()) {
        raise(connection.get(), SQLITE_READONLY,
              "write to '" + path + "', whose permissions or file system allow reading only");
    }
    use_write_ahead_log(connection, path, patience);
    open_all_files(connection);
    writer.files().watch(connection, path);
}

SETTLE_FUNCTION void prepare_file(writer& writer, std::string const& path,
                                  std::chrono::milliseconds patience) {
    connection const& connection = writer.on();
    check_links(connection, path);
    check_application(connection, path);
    check_encoding(connection, path);
    check_names(connection, path);
    bool const is_prepared = has_tables(connection, path) && has_entries_view(connection);
    open_for_writing(writer, path, patience);
    // A commit is synced before its answer. Foreign keys of the user's tables concern columns that
    // settle never writes. Temporary data of a statement over a wave stays in memory. Erased marks
    // are overwritten if that needs no extra write.
    connection.execute("PRAGMA synchronous = FULL; PRAGMA foreign_keys = OFF; "
                       "PRAGMA temp_store = MEMORY; PRAGMA secure_delete = FAST",
                       "set its options");
    writer.prepare();
    if (is_prepared) return;
    transaction work{writer};
    check_application(connection, path);
    if (!has_tables(connection, path)) {
        // Only a file that was empty gets the library's application id.
        if (read_number(connection, "SELECT count(*) FROM sqlite_master") == 0) {
            connection.execute("PRAGMA application_id = " + std::to_string(application_id),
                               "name the application");
        }
        create_tables(connection);
    } else if (!has_entries_view(connection)) {
        renew_entries_view(connection);
    }
    if (auto const end = work.commit(); end.status != commit_status::committed)
        throw failure(end.problem);
}

SETTLE_FUNCTION std::optional<std::string>
known_metadata(connection const& connection, std::string_view name, std::string const& table) {
    statement const look{connection, "SELECT value FROM " + table + " WHERE name = ?1",
                         "read the table of metadata"};
    run row{look, name};
    if (!row.next()) return std::nullopt;
    return std::string{row.text(0)};
}

SETTLE_FUNCTION std::string get_or_init_metadata(writer& writer, std::string_view name,
                                                 std::string_view value) {
    if (auto known = known_metadata(writer.on(), name)) return *std::move(known);
    transaction work{writer};
    statement const write{writer.on(),
                          "INSERT OR IGNORE INTO settle_meta(name, value) VALUES(?1, ?2)",
                          "write the table settle_meta"};
    run{write, name, value}.change();
    if (auto const end = work.commit(); end.status != commit_status::committed)
        throw failure(end.problem);
    return known_metadata(writer.on(), name).value_or(std::string{});
}

SETTLE_FUNCTION void replace_metadata(writer& writer, std::string_view name,
                                      std::string_view old_value, std::string_view new_value) {
    transaction work{writer};
    statement const write{writer.on(),
                          "UPDATE settle_meta SET value = ?3 WHERE name = ?1 AND value = ?2",
                          "write the table settle_meta"};
    run{write, name, old_value, new_value}.change();
    if (auto const end = work.commit(); end.status != commit_status::committed)
        throw failure(end.problem);
}

SETTLE_FUNCTION std::vector<metadata_text>
list_metadata(connection const& connection, metadata_range const& names, std::size_t limit) {
    statement const look{connection,
                         "SELECT name, value FROM settle_meta WHERE name >= ?1 AND name < ?2 "
                         "ORDER BY name DESC LIMIT ?3",
                         "read the table of metadata"};
    std::vector<metadata_text> listed;
    run row{look, names.from, names.to, static_cast<std::int64_t>(limit)};
    while (row.next()) listed.push_back({std::string{row.text(0)}, std::string{row.text(1)}});
    return listed;
}

SETTLE_FUNCTION void erase_metadata(writer& writer, metadata_range const& names) {
    transaction work{writer};
    statement const erase{writer.on(), "DELETE FROM settle_meta WHERE name >= ?1 AND name < ?2",
                          "write the table settle_meta"};
    run{erase, names.from, names.to}.change();
    if (auto const end = work.commit(); end.status != commit_status::committed)
        throw failure(end.problem);
}

SETTLE_FUNCTION void replace_home(writer& writer, log_home const& seen, std::string_view old_name,
                                  std::string_view new_name) {
    using settle::detail::home_metadata;
    constexpr auto action = "write the table settle_meta";
    transaction work{writer};
    statement const home{writer.on(),
                         seen.kept.empty()
                             ? "INSERT OR IGNORE INTO settle_meta(name, value) VALUES(?1, ?2)"
                             : "UPDATE settle_meta SET value = ?2 WHERE name = ?1 AND value = ?3",
                         action};
    statement const rename{writer.on(),
                           "UPDATE settle_meta SET value = ?3 WHERE name IN (?1, 'log') AND "
                           "value = ?2",
                           action};
    auto const kept = seen.kept.empty()
                          ? run{home, home_metadata, seen.present}.change()
                          : run{home, home_metadata, seen.present, seen.kept}.change();
    if (kept == 1 && new_name != old_name)
        run{rename, settle::detail::owner_metadata, old_name, new_name}.change();
    if (auto const end = work.commit(); end.status != commit_status::committed)
        throw failure(end.problem);
}

} // namespace detail
} // namespace sqlite
SETTLE_END
