// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that table_check.hpp declares.
#pragma once

#include <settle/adapter/table_rules.hpp>
#include <settle/mariadb/connection/schema.hpp>
#include <settle/mariadb/records/table_check.hpp>

SETTLE_BEGIN
namespace mariadb::detail {

using settle::detail::sql::column_form;

/// A column as the server describes it.
struct column_found {
    std::string name;
    std::string declared; ///< the type with its length
    std::string base;     ///< the name of the type
    std::int64_t length;  ///< in characters of a VARCHAR, and in bytes of a TEXT
    int precision;        ///< of a DECIMAL
    int digits;           ///< after the point
    bool is_nullable;
    bool is_generated;
    bool changes_itself;   ///< ON UPDATE CURRENT_TIMESTAMP
    bool is_json;          ///< it takes JSON alone
    std::string collation; ///< empty for bytes and numbers

    [[nodiscard]] bool has_every_text() const {
        return collation.empty() || collation.starts_with("utf8mb4_");
    }
};

class table_check : settle::detail::table_rules {
public:
    table_check(pool& from, collection_descriptor const& of)
        : table_check(from, of, dialect::table_name(from, of.name)) {}

    [[nodiscard]] bool exists() const {
        bool is_there = false;
        ask_table("SELECT 1 FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND "
                  "TABLE_NAME = $1",
                  [&](rows const& answer) { is_there = !answer.empty(); });
        return is_there;
    }
    /// Errors:  throws errc::unfit_store with one sentence that names the change to make
    [[nodiscard]] fit_table check();
    [[nodiscard]] std::string create_sql() const;

private:
    table_check(pool& from, collection_descriptor const& of, std::string const& table)
        : table_rules(settle::detail::need_of(of), table, "mariadb"), pool_(from), of_(of),
          table_(table) {}

    /// Runs a query about the table.
    template <typename Take>
    void ask_table(char const* sql, Take&& take) const {
        ask(pool_, sql, "look at a table", take, of_.name);
    }
    void check_kind(fit_table& fit) const;
    void read_columns();
    [[nodiscard]] column_found const& column_named(std::string_view name) const;
    [[nodiscard]] table_column column_for(member_descriptor const& member) const;
    /// False if the column cannot keep the member's values.
    [[nodiscard]] static bool set_form(table_column& column, member_access const& access,
                                       column_found const& is);
    [[nodiscard]] static bool set_number(table_column& column, member_access const& access,
                                         column_found const& is);
    void check_key() const;
    void check_obstacles() const;

    pool& pool_;
    collection_descriptor const& of_;
    std::string table_;
    std::vector<column_found> columns_;
};

SETTLE_FUNCTION fit_table table_check::check() {
    fit_table fit;
    check_kind(fit);
    read_columns();
    for (auto const& member : of_.members()) {
        fit.columns.push_back(column_for(member));
        fit.columns.back().declared = column_named(member.name).declared;
        bool const may_lack = !member.access->optional && column_named(member.name).is_nullable;
        if (may_lack || member.access->nested) fit.is_readable = false;
    }
    check_key();
    check_obstacles();
    fit.count = columns_.size();
    for (auto const& column : columns_) {
        if (of_.record->find(column.name) || column.is_generated) continue;
        fit.others.push_back({column.name, column.declared, column.base});
    }
    return fit;
}

SETTLE_FUNCTION std::string table_check::create_sql() const {
    std::string sql = "CREATE TABLE IF NOT EXISTS " + table_;
    char separator = '(';
    for (std::size_t number = 0; number < of_.members().size(); ++number) {
        auto const& member = of_.members()[number];
        bool const is_text = member.access->nested || member.access->kind == field_kind::text;
        bool const is_key = number == of_.key;
        sql += std::exchange(separator, ',');
        sql += quoted_name(member.name);
        sql += member.access->kind == field_kind::boolean ? " BOOLEAN"
               : !is_text                                 ? " BIGINT"
               : is_key                                   ? " VARCHAR(500)"
                                                          : " LONGTEXT";
        if (is_key) sql += " PRIMARY KEY";
        else if (!member.access->optional) sql += " NOT NULL";
    }
    return sql + ") ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin";
}

SETTLE_FUNCTION void table_check::check_kind(fit_table& fit) const {
    ask_table("SELECT TABLE_TYPE, ENGINE, (SELECT COUNT(*) FROM "
              "information_schema.REFERENTIAL_CONSTRAINTS WHERE UNIQUE_CONSTRAINT_SCHEMA = "
              "DATABASE() AND REFERENCED_TABLE_NAME = $1) FROM information_schema.TABLES WHERE "
              "TABLE_SCHEMA = DATABASE() AND TABLE_NAME = $1",
              [&](rows const& table) {
                  if (table.empty()) refuse_gone();
                  auto const kind = table.text(0, 0);
                  if (kind == "SYSTEM VERSIONED") {
                      refuse("it keeps its history, and a row that comes back would begin another",
                             "Use ALTER TABLE … DROP SYSTEM VERSIONING");
                  }
                  if (kind != "BASE TABLE") {
                      refuse("it is a " + std::string{kind} + ", not an ordinary table",
                             "Name a table");
                  }
                  auto const engine = table.text(0, 1);
                  if (engine != "InnoDB") {
                      refuse("its engine is " + std::string{engine} +
                                 ", which cannot undo a native transaction",
                             "Use ALTER TABLE … ENGINE = InnoDB");
                  }
                  fit.is_referenced = table.integer(0, 2) != 0;
              });
}

SETTLE_FUNCTION void table_check::read_columns() {
    ask_table(
        "SELECT c.COLUMN_NAME, c.COLUMN_TYPE, c.DATA_TYPE, "
        "CAST(COALESCE(c.CHARACTER_MAXIMUM_LENGTH, 0) AS SIGNED), "
        "CAST(COALESCE(c.NUMERIC_PRECISION, 0) AS SIGNED), "
        "CAST(COALESCE(c.NUMERIC_SCALE, c.DATETIME_PRECISION, 0) AS SIGNED), "
        "c.IS_NULLABLE = 'YES', c.GENERATION_EXPRESSION IS NOT NULL, "
        "c.EXTRA LIKE '%on update%', EXISTS (SELECT 1 FROM information_schema.CHECK_CONSTRAINTS "
        "AS k WHERE k.CONSTRAINT_SCHEMA = DATABASE() AND k.TABLE_NAME = $1 AND "
        "k.CHECK_CLAUSE = CONCAT('json_valid(`', c.COLUMN_NAME, '`)')), c.COLLATION_NAME "
        "FROM information_schema.COLUMNS AS c WHERE c.TABLE_SCHEMA = DATABASE() AND "
        "c.TABLE_NAME = $1 ORDER BY c.ORDINAL_POSITION",
        [&](rows const& found) {
            for_each_row(found, [&](row const& column) {
                auto const text = [&](int number) { return std::string{column.text(number)}; };
                auto const truth = [&](int number) { return column.integer(number) != 0; };
                columns_.push_back({text(0), text(1), text(2), column.integer(3),
                                    static_cast<int>(column.integer(4)),
                                    static_cast<int>(column.integer(5)), truth(6), truth(7),
                                    truth(8), truth(9), text(10)});
            });
        });
}

SETTLE_FUNCTION column_found const& table_check::column_named(std::string_view name) const {
    for (auto const& column : columns_) {
        if (column.name == name) return column;
    }
    refuse_missing(name);
}

SETTLE_FUNCTION table_column table_check::column_for(member_descriptor const& member) const {
    column_found const& is = column_named(member.name);
    auto const name = shown_column(member.name);
    check_column(*need().find(member.name), is.is_generated, !is.is_nullable);
    if (is.changes_itself) {
        refuse(name + " changes by itself: ON UPDATE CURRENT_TIMESTAMP",
               "Remove that, or the member from the description");
    }
    bool const is_text = member.access->nested || member.access->kind == field_kind::text;
    if (is_text && is.base != "enum" && !is.has_every_text()) {
        refuse(name + " has the collation '" + is.collation +
                   "', whose character set cannot hold every text",
               "Declare it CHARACTER SET utf8mb4");
    }
    table_column column;
    column.name = quoted_name(member.name);
    if (set_form(column, *member.access, is)) return column;
    auto const needs = member.access->nested ? std::pair{"JSON", "JSON or LONGTEXT"}
                       : member.access->kind == field_kind::text
                           ? std::pair{"texts", "VARCHAR or TEXT"}
                       : member.access->kind == field_kind::time
                           ? std::pair{"times", "DATETIME(6) or BIGINT"}
                           : std::pair{"whole numbers", "BIGINT, or DECIMAL with a scale"};
    refuse(name + " is declared '" + is.declared + "' and must keep " + needs.first,
           std::string{"Declare it "} + needs.second);
}

SETTLE_FUNCTION bool table_check::set_form(table_column& column, member_access const& access,
                                           column_found const& is) {
    bool const is_text = is.base == "varchar" || is.base.ends_with("text");
    if (access.nested) return is_text;
    if (access.kind != field_kind::text) {
        column.form = column_form::number;
        return set_number(column, access, is);
    }
    if (is.is_json) return false;
    if (is.base == "varchar" || is.base == "varbinary") column.length = is.length;
    // A TEXT has a limit of bytes.
    if (is.base.ends_with("text") && is.base != "longtext") column.length = is.length / 4;
    if (is.base == "varbinary") {
        column.length = is.length / 4;
        column.form = column_form::cast;
        column.type = "BINARY";
    }
    column.is_uuid = is.base == "uuid";
    if (is.base == "enum") {
        // enum('a','it''s')
        std::string label;
        for (std::size_t index = 6; index + 1 < is.declared.size(); ++index) {
            bool const is_quote = is.declared[index] == '\'';
            if (is_quote && is.declared[index + 1] == '\'') ++index;
            else if (is_quote) {
                column.labels.push_back(std::exchange(label, {}));
                index += 2;
                continue;
            }
            label += is.declared[index];
        }
    }
    return is_text || is.base == "varbinary" || column.is_uuid || is.base == "enum";
}

SETTLE_FUNCTION bool table_check::set_number(table_column& column, member_access const& access,
                                             column_found const& is) {
    constexpr std::pair<std::string_view, int> integers[]{
        {"tinyint", 8}, {"smallint", 16}, {"mediumint", 24}, {"int", 32}, {"bigint", 64}};
    bool const is_unsigned = is.declared.find("unsigned") != is.declared.npos;
    for (auto const& [name, bits] : integers) {
        if (is.base != name) continue;
        if (bits < 64) {
            column.most = (std::int64_t{1} << (is_unsigned ? bits : bits - 1)) - 1;
            column.least = -column.most - 1;
        }
        if (is_unsigned) column.least = 0;
        return true;
    }
    if (access.kind == field_kind::integer && is.base == "decimal") {
        column.set_decimal(is.precision, is.digits);
        if (is_unsigned) column.least = 0;
        return true;
    }
    bool const is_time = is.base == "datetime" || is.base == "timestamp";
    auto const unit = table_column::micros(access);
    if (access.kind != field_kind::time || !is_time || unit == 0) return false;
    // Digits that the column has not would be cut.
    constexpr std::int64_t second = 1'000'000;
    if (is.digits < (unit % second == 0 ? 0 : unit % 1'000 == 0 ? 3 : 6)) return false;
    column.form = column_form::time;
    column.scale = is.digits;
    bool const is_datetime = is.base == "datetime";
    // From 1000-01-01 to 9999-12-31, and from 1970-01-01 00:00:01 to 2038-01-19 03:14:07.
    column.least = (is_datetime ? -30'610'224'000 : 1) * second / unit;
    column.most = (is_datetime ? 253'402'300'799 : 2'147'483'647) * second / unit;
    return true;
}

SETTLE_FUNCTION void table_check::check_key() const {
    auto const& key = of_.members()[of_.key];
    column_found const& is = column_named(key.name);
    auto const name = shown_column(key.name);
    bool const is_number = is.base.ends_with("int");
    bool const is_text = is.base == "varchar" || is.base == "varbinary" || is.base == "uuid";
    if (!is_number && !is_text) {
        refuse(name + " is the key and is declared '" + is.declared + "'",
               "Declare it VARCHAR, VARBINARY, UUID, BIGINT, INT, SMALLINT or TINYINT");
    }
    if (is.base == "varchar" && is.collation != "utf8mb4_nopad_bin") {
        refuse(name + " is the key, and its collation '" + is.collation +
                   "' does not compare texts by their bytes in UTF-8",
               "Declare it COLLATE utf8mb4_nopad_bin");
    }
}

/// A row for each column of each object that could refuse a change. The names in an expression have
/// backticks.
inline constexpr char const* obstacles_sql =
    "SELECT 'trigger', TRIGGER_NAME, NULL, 0 FROM information_schema.TRIGGERS WHERE "
    "EVENT_OBJECT_SCHEMA = DATABASE() AND EVENT_OBJECT_TABLE = $1 "
    "UNION ALL SELECT 'check', k.CONSTRAINT_NAME, c.COLUMN_NAME, 0 FROM "
    "information_schema.CHECK_CONSTRAINTS AS k JOIN information_schema.COLUMNS AS c ON "
    "c.TABLE_SCHEMA = k.CONSTRAINT_SCHEMA AND c.TABLE_NAME = k.TABLE_NAME AND "
    "INSTR(k.CHECK_CLAUSE, CONCAT('`', c.COLUMN_NAME, '`')) > 0 WHERE "
    "k.CONSTRAINT_SCHEMA = DATABASE() AND k.TABLE_NAME = $1 AND "
    "k.CHECK_CLAUSE <> CONCAT('json_valid(`', c.COLUMN_NAME, '`)') "
    "UNION ALL SELECT 'foreign key', CONSTRAINT_NAME, COLUMN_NAME, 0 FROM "
    "information_schema.KEY_COLUMN_USAGE WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = $1 AND "
    "REFERENCED_TABLE_NAME IS NOT NULL "
    // InnoDB lets a foreign key refer to a column whose index is not unique.
    "UNION ALL SELECT 'foreign key', CONSTRAINT_NAME, REFERENCED_COLUMN_NAME, 0 FROM "
    "information_schema.KEY_COLUMN_USAGE WHERE REFERENCED_TABLE_SCHEMA = DATABASE() AND "
    "REFERENCED_TABLE_NAME = $1 "
    "UNION ALL SELECT 'unique index', s.INDEX_NAME, IF(s.SUB_PART IS NULL, s.COLUMN_NAME, NULL), "
    // A hash finds no row of a wave, and may miss a row that READ COMMITTED inserts beside.
    "s.SUB_PART IS NULL AND s.INDEX_TYPE <> 'HASH' AND (SELECT COUNT(*) FROM "
    "information_schema.STATISTICS AS o WHERE "
    "o.TABLE_SCHEMA = s.TABLE_SCHEMA AND o.TABLE_NAME = s.TABLE_NAME AND "
    "o.INDEX_NAME = s.INDEX_NAME) = 1 FROM information_schema.STATISTICS AS s WHERE "
    "s.TABLE_SCHEMA = DATABASE() AND s.TABLE_NAME = $1 AND s.NON_UNIQUE = 0 "
    "UNION ALL SELECT 'generated column', g.COLUMN_NAME, c.COLUMN_NAME, 0 FROM "
    "information_schema.COLUMNS AS g JOIN information_schema.COLUMNS AS c ON "
    "c.TABLE_SCHEMA = g.TABLE_SCHEMA AND c.TABLE_NAME = g.TABLE_NAME AND "
    "INSTR(g.GENERATION_EXPRESSION, CONCAT('`', c.COLUMN_NAME, '`')) > 0 WHERE "
    "g.TABLE_SCHEMA = DATABASE() AND g.TABLE_NAME = $1";

SETTLE_FUNCTION void table_check::check_obstacles() const {
    ask_table(obstacles_sql, [&](rows const& found) {
        bool is_unique = false;
        for_each_row(found, [&](row const& obstacle) {
            bool const is_of_key = obstacle.text(2) == of_.members()[of_.key].name;
            is_unique = is_unique || (obstacle.integer(3) != 0 && is_of_key);
        });
        if (!is_unique) refuse_key();
        for_each_row(found, [&](row const& obstacle) {
            check_obstacle({obstacle.text(0), obstacle.text(1), obstacle.text(2)});
        });
    });
}

SETTLE_FUNCTION fit_table settle_table(pool& from, collection_descriptor const& of) {
    constexpr std::size_t longest_name = 64;
    auto const refuse_name = [&](std::string_view name, char const* why) {
        raise(errc::unfit_store, "settle: the name '" + std::string{name} + "' " + why +
                                     ". Choose another name. See mariadb#existing-tables");
    };
    if (of.name.starts_with("settle_")) refuse_name(of.name, "begins as other tables do");
    auto const check_length = [&](std::string_view name) {
        if (name.size() > longest_name) refuse_name(name, "has more than 64 bytes");
    };
    check_length(of.name);
    for (auto const& member : of.members()) check_length(member.name);
    table_check checks{from, of};
    if (!checks.exists()) {
        auto session = from.take();
        session->send_sql(checks.create_sql(), "create a table");
        session->sync();
    }
    return checks.check();
}

} // namespace mariadb::detail
SETTLE_END
