// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that table_check.hpp declares.
#pragma once

#include <settle/sqlite/records/table_check.hpp>

SETTLE_BEGIN
namespace sqlite::detail {

SETTLE_FUNCTION affinity affinity_of(std::string_view declared) {
    std::string type{declared};
    std::transform(type.begin(), type.end(), type.begin(), upper);
    auto const has = [&](std::string_view part) { return type.find(part) != std::string::npos; };
    if (has("INT")) return affinity::integer;
    if (has("CHAR") || has("CLOB") || has("TEXT")) return affinity::text;
    if (type.empty() || has("BLOB")) return affinity::blob;
    if (has("REAL") || has("FLOA") || has("DOUB")) return affinity::real;
    return affinity::numeric;
}

SETTLE_FUNCTION void table_check::check() {
    check_kind();
    read_columns();
    for (auto const& one : need().columns) check_column(one);
    check_indexes();
    check_key();
    check_obstacles();
}

SETTLE_FUNCTION void table_check::check_kind() const {
    statement const look{on_,
                         "SELECT type, name FROM pragma_table_list WHERE schema = 'main' AND "
                         "name = ?1 COLLATE NOCASE",
                         "look at a table"};
    run row{look, need().name};
    if (!row.next()) refuse_gone();
    if (row.text(0) != "table") {
        refuse("it is a " + std::string{row.text(0)} + ", not an ordinary table",
               "Name a table, or rename the " + std::string{row.text(0)});
    }
    if (row.text(1) != need().name) {
        refuse("its name is '" + std::string{row.text(1)} + "', in another letter case",
               "Spell the collection's name exactly like the table's");
    }
}

SETTLE_FUNCTION void table_check::read_columns() {
    statement const look{on_,
                         "SELECT name, type, \"notnull\", pk, hidden FROM pragma_table_xinfo(?1)",
                         "look at a table"};
    run rows{look, need().name};
    while (rows.next()) {
        found_.push_back({std::string{rows.text(0)}, std::string{rows.text(1)},
                          rows.integer(2) != 0, rows.integer(3), rows.integer(4) != 0});
    }
}

SETTLE_FUNCTION column_found const& table_check::column(std::string_view name) const {
    for (auto const& column : found_) {
        if (column.name == name) return column;
        if (same_word(column.name, name)) {
            refuse("the member '" + std::string{name} + "' has the column '" + column.name +
                       "', in another letter case",
                   "Spell the member as the column");
        }
    }
    refuse_missing(name);
}

SETTLE_FUNCTION void table_check::check_column(column_need const& needed) const {
    column_found const& is = column(needed.name);
    auto const has = affinity_of(is.type);
    auto const declared = shown_column(needed.name) +
                          (is.type.empty() ? " has no type" : " is declared '" + is.type + "'");
    table_rules::check_column(needed, is.generated, is.not_null);
    if (needed.kind == field_kind::text) {
        if (has != affinity::text) refuse(declared + " and must keep texts", "Declare it TEXT");
    } else if (has != affinity::integer && !keeps_as_numeric(needed.kind, has)) {
        // Other programs write fractions into DECIMAL and REAL; a field cannot hold them.
        refuse(declared + " and must keep whole numbers", "Declare it INTEGER");
    }
}

SETTLE_FUNCTION void table_check::check_indexes() const {
    statement const look{on_, "SELECT name FROM pragma_index_list(?1)", "look at indexes"};
    run rows{look, need().name};
    while (rows.next()) {
        std::string const name{rows.text(0)};
        try {
            // SQLite looks the collations and functions up when it prepares the statement, which is
            // never run.
            statement const prepared{on_, "REINDEX main." + quoted_name(name), "look at an index"};
        } catch (failure const& problem) {
            if (primary_code(problem.problem().code.value()) != SQLITE_ERROR) throw;
            refuse("its index '" + name +
                       "' cannot be written by this process: " + sqlite3_errmsg(on_.get()),
                   "Drop the index");
        }
    }
}

SETTLE_FUNCTION void table_check::check_key() const {
    auto const& key = need().key();
    char const* collation = nullptr;
    int const code = sqlite3_table_column_metadata(
        on_.get(), "main", std::string{need().name}.c_str(), std::string{key.name}.c_str(), nullptr,
        &collation, nullptr, nullptr, nullptr);
    if (code != SQLITE_OK) raise(on_.get(), code, "look at a column");
    if (!same_word(collation, "BINARY")) {
        refuse(shown_column(key.name) + " is the key and compares texts by " + collation,
               "Declare it COLLATE BINARY");
    }
    statement const look{
        on_,
        "SELECT 1 FROM pragma_index_list(?1) AS i WHERE i.\"unique\" AND NOT i.partial AND "
        "(SELECT count(*) || '/' || max(name) || '/' || max(coll) "
        "FROM pragma_index_xinfo(i.name) WHERE key) = '1/' || ?2 || '/BINARY'",
        "look at indexes"};
    if (run{look, need().name, key.name}.next() || is_rowid(key)) return;
    refuse_key();
}

SETTLE_FUNCTION bool table_check::is_rowid(column_need const& key) const {
    auto const keys = std::count_if(found_.begin(), found_.end(),
                                    [](auto const& column) { return column.in_primary_key != 0; });
    column_found const& is = column(key.name);
    statement const look{on_, "SELECT 1 FROM pragma_index_list(?1) WHERE origin = 'pk'",
                         "look at indexes"};
    return keys == 1 && is.in_primary_key == 1 && same_word(is.type, "INTEGER") &&
           !run{look, need().name}.next();
}

/// One row for each column of each object that could refuse a change of that column. NULL as the
/// column means that the object could refuse a change of any column.
inline constexpr char const* obstacles_sql =
    "SELECT 'trigger', name, NULL, NULL FROM sqlite_master "
    "WHERE type = 'trigger' AND tbl_name = ?1 COLLATE NOCASE "
    "UNION ALL SELECT 'unique index', i.name, iif(i.partial OR x.hidden, NULL, c.name), NULL "
    "FROM pragma_index_list(?1) AS i, pragma_index_xinfo(i.name) AS c "
    "LEFT JOIN pragma_table_xinfo(?1) AS x ON x.name = c.name WHERE i.\"unique\" AND c.key "
    "UNION ALL SELECT 'reference', NULL, \"from\", NULL FROM pragma_foreign_key_list(?1) "
    "UNION ALL SELECT 'table', name, NULL, sql FROM sqlite_master "
    "WHERE type = 'table' AND name = ?1";

SETTLE_FUNCTION void table_check::check_obstacles() const {
    for (auto const& column : found_) {
        if (column.generated && column.not_null) {
            refuse(shown_column(column.name) + " is generated and NOT NULL, so it could refuse a "
                                               "change of another column",
                   "Remove the NOT NULL");
        }
    }
    statement const look{on_, obstacles_sql, "look at a table"};
    run rows{look, need().name};
    while (rows.next()) {
        auto const kind = rows.text(0);
        auto const column = rows.text(2);
        if (kind == "table") {
            if (!has_word(rows.text(3), "CHECK")) continue;
            refuse("it has a CHECK, which could refuse a confirmed change",
                   "Remove it, and use .require(…) of the participant");
        }
        if (kind == "reference") {
            // Foreign keys are not enforced here, so a write could break them.
            if (need().find(column) == nullptr) continue;
            refuse(shown_column(column) + " has a foreign key, which a change could break",
                   "Remove the REFERENCES");
        }
        check_obstacle({kind, rows.text(1), column});
    }
}

SETTLE_FUNCTION std::string create_sql(table_need const& need) {
    bool by_number = false;
    auto sql = "CREATE TABLE IF NOT EXISTS " + quoted_name(need.name);
    char separator = '(';
    for (auto const& column : need.columns) {
        sql += std::exchange(separator, ',');
        if (column.name.data() != need.columns.front().name.data()) sql += ' ';
        sql += quoted_name(column.name);
        sql += column.kind == field_kind::text ? " TEXT" : " INTEGER";
        if (column.key) sql += " PRIMARY KEY";
        if (!column.optional) sql += " NOT NULL";
        by_number = by_number || (column.key && column.kind != field_kind::text);
    }
    // A text key orders the table itself, so a search needs one tree, not two.
    return sql + (by_number ? ")" : ") WITHOUT ROWID");
}

SETTLE_FUNCTION void settle_table(writer& writer, table_need const& need) {
    auto const reserved = [&](std::string_view prefix) {
        return same_word(need.name.substr(0, prefix.size()), prefix);
    };
    if (reserved("settle_") || reserved("sqlite_")) {
        raise(errc::unfit_store, "settle: a collection cannot be named '" + std::string{need.name} +
                                     "', since other tables use this prefix. Choose another name. "
                                     "See sqlite#existing-tables");
    }
    statement const look{writer.on(), "SELECT 1 FROM sqlite_master WHERE name = ?1 COLLATE NOCASE",
                         "look for a table"};
    if (!run{look, need.name}.next()) {
        transaction work{writer};
        writer.on().execute(create_sql(need), "create the table '" + std::string{need.name} + "'");
        if (auto const end = work.commit(); end.status != commit_status::committed) {
            throw failure(end.problem);
        }
    }
    table_check{writer.on(), need}.check();
}

} // namespace sqlite::detail
SETTLE_END
