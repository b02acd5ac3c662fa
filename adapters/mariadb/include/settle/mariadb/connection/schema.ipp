// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that schema.hpp declares.
#pragma once

#include <settle/adapter/entry_row.hpp>
#include <settle/adapter/ownership.hpp>
#include <settle/mariadb/connection/schema.hpp>

SETTLE_BEGIN
namespace mariadb::detail {

/// The view of the entries for people.
[[nodiscard]] SETTLE_FUNCTION std::string entries_view(std::string const& prefix) {
    using settle::detail::entry_field;
    auto columns = settle::detail::columns_of_view([](entry_field field) {
        auto column = "e." + std::string{name_of(field)};
        if (field == entry_field::committed) return "nullif(" + column + ", 0)";
        if (!settle::detail::is_time(field)) return column;
        // A time of a wrong clock may have no date: then it is NULL.
        return "TIMESTAMPADD(MICROSECOND, " + column + " * 1000, '1970-01-01')";
    });
    for (auto at = columns.find(" AS text)"); at != columns.npos; at = columns.find(" AS text)")) {
        columns.replace(at, 9, " AS CHAR)");
    }
    return "CREATE VIEW IF NOT EXISTS " + prefix + "settle_entries AS SELECT " + columns +
           " FROM " + prefix + "settle_entry AS e";
}

[[nodiscard]] SETTLE_FUNCTION std::vector<std::string> record_tables(std::string const& prefix) {
    // An index has at most 3,072 bytes: an id has 200, so a key has at most 500 characters. Numbers
    // are NOT NULL where they can be, as a row that grows costs as much as a commit.
    std::string const create = "CREATE TABLE IF NOT EXISTS " + prefix;
    return {
        create + "settle_entry(id VARCHAR(200) PRIMARY KEY, state SMALLINT NOT NULL, "
                 "epoch BIGINT NOT NULL, revision BIGINT NOT NULL DEFAULT 0, "
                 "committed BIGINT NOT NULL DEFAULT 0, created BIGINT NOT NULL, "
                 "modified BIGINT NOT NULL, attempts BIGINT NOT NULL, "
                 "stages_kept BIGINT NOT NULL DEFAULT 0, reason SMALLINT, line BIGINT, "
                 "open BOOLEAN NOT NULL, type TEXT, definition TEXT, owner VARCHAR(512) NOT NULL, "
                 "participant TEXT, parameters LONGTEXT, images LONGTEXT, results LONGTEXT, "
                 "reason_text TEXT, call_tries BIGINT, next_try BIGINT, "
                 "tried_in BIGINT, traceparent VARCHAR(55), KEY settle_entry_open (open, id)",
        create + "settle_mark(collection VARCHAR(64), `key` VARCHAR(500), id VARCHAR(200), "
                 "participant BIGINT, line BIGINT, epoch BIGINT NOT NULL, effect TEXT NOT NULL, "
                 "confirm LONGTEXT, `undo` LONGTEXT, image LONGTEXT, "
                 "PRIMARY KEY (collection, `key`, id, participant, line)",
        entries_view(prefix)};
}

SETTLE_FUNCTION own_tables const& database_tables() noexcept {
    static constexpr own_tables tables{"settle_", schema_version, &record_tables};
    return tables;
}

SETTLE_FUNCTION metadata_table try_to_prepare_schema(pool& from, own_tables const& tables) {
    auto const name = std::string{tables.prefix} + "meta";
    bool is_made = false;
    ask(
        from,
        "SELECT 1 FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND "
        "TABLE_NAME = $1",
        "look for the tables of settle", [&](rows const& table) { is_made = !table.empty(); },
        name);
    metadata_table metadata{from, dialect::table_name(from, name)};
    if (!is_made) {
        auto statements = tables.create(from.schema_prefix());
        // The last, so that a program that finds it finds the others.
        statements.push_back("CREATE TABLE IF NOT EXISTS " + dialect::table_name(from, name) +
                             "(name VARCHAR(64) PRIMARY KEY, value LONGTEXT NOT NULL");
        auto session = from.take();
        for (auto& sql : statements) {
            // Ids and keys are compared by their bytes.
            if (sql.starts_with("CREATE TABLE")) {
                sql += ") ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin "
                       "ROW_FORMAT = DYNAMIC";
            }
            session->send_sql(sql, "create the tables of settle");
            session->sync();
        }
    }
    auto const version = metadata.get_or_init("schema_version", tables.version);
    if (version == tables.version) return metadata;
    raise(errc::other_version,
          "settle: the tables " + from.schema_prefix() + std::string{tables.prefix} +
              "… have version " + version + " and this library needs version " +
              std::string{tables.version} +
              ". Use the release of settle that made them. See mariadb#schema-version");
}

SETTLE_FUNCTION metadata_table prepare_schema(pool& from, own_tables const& tables) {
    return settle::detail::sql::repeat_while_held<is_held>(
        [&] { return try_to_prepare_schema(from, tables); });
}

SETTLE_FUNCTION log_home look_home(pool& from) {
    using namespace settle::detail;
    log_home seen;
    ask(
        from,
        "SELECT CONCAT('server=', @@server_uid, ' database=', DATABASE()), (SELECT value FROM " +
            dialect::table_name(from, "settle_meta") + " WHERE name = $1)",
        "look where the log is",
        [&](rows const& home) {
            seen = {std::string{home.text(0, 1)}, std::string{home.text(0, 0)}};
        },
        home_metadata);
    if (seen.kept.empty()) return seen;
    seen.is_same = seen.kept == seen.present;
    return seen;
}

} // namespace mariadb::detail
SETTLE_END
