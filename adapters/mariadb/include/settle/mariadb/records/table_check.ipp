// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that table_check.hpp declares.
#pragma once

#include <settle/adapter/sql/table_check.hpp>
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
    bool not_null;
    bool generated;
    bool changes_itself;   ///< ON UPDATE CURRENT_TIMESTAMP
    bool is_json;          ///< it takes JSON alone
    std::string collation; ///< empty for bytes and numbers

    [[nodiscard]] bool has_every_text() const {
        return collation.empty() || collation.starts_with("utf8mb4_");
    }
};

/// A row for each column of each object that could refuse a change. The names in an expression have
/// backticks.
inline constexpr char const* obstacles_of_table =
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

class table_check : public settle::detail::sql::table_check<table_check, parts, column_found> {
    using base = settle::detail::sql::table_check<table_check, parts, column_found>;

public:
    table_check(pool& from, collection_descriptor const& collection)
        : base(from, collection, dialect::table_name(from, collection.name),
               std::string{collection.name}) {}

    [[nodiscard]] bool exists() const {
        bool is_there = false;
        ask("SELECT 1 FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND "
            "TABLE_NAME = $1",
            [&](rows const& answer) { is_there = !answer.empty(); });
        return is_there;
    }
    void check_kind(fit_table& fit) const;
    void read_columns();
    [[nodiscard]] table_column column_for(member_descriptor const& member) const;
    void check_key() const;
    void check_more(fit_table&) const {}
    static bool is_unwritable(std::string_view) { return false; }
    static std::string type_of(member_access const& access, bool is_key) {
        bool const is_text = access.nested || access.kind == field_kind::text;
        return access.kind == field_kind::boolean ? "BOOLEAN"
               : !is_text                         ? "BIGINT"
               : is_key                           ? "VARCHAR(500)"
                                                  : "LONGTEXT";
    }
    static constexpr char const* table_end =
        " ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin";
    static constexpr char const* obstacles_sql = obstacles_of_table;

private:
    /// False if the column cannot keep the member's values.
    [[nodiscard]] static bool set_form(table_column& column, member_access const& access,
                                       column_found const& is);
    [[nodiscard]] static bool set_number(table_column& column, member_access const& access,
                                         column_found const& is);
};

SETTLE_FUNCTION void table_check::check_kind(fit_table& fit) const {
    ask("SELECT TABLE_TYPE, ENGINE, (SELECT COUNT(*) FROM "
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
                refuse("it is a " + std::string{kind} + ", not an ordinary table", "Name a table");
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
    ask("SELECT c.COLUMN_NAME, c.COLUMN_TYPE, c.DATA_TYPE, "
        "CAST(COALESCE(c.CHARACTER_MAXIMUM_LENGTH, 0) AS SIGNED), "
        "CAST(COALESCE(c.NUMERIC_PRECISION, 0) AS SIGNED), "
        "CAST(COALESCE(c.NUMERIC_SCALE, c.DATETIME_PRECISION, 0) AS SIGNED), "
        "c.IS_NULLABLE = 'NO', c.GENERATION_EXPRESSION IS NOT NULL, "
        "c.EXTRA LIKE '%on update%', EXISTS (SELECT 1 FROM information_schema.CHECK_CONSTRAINTS "
        "AS k WHERE k.CONSTRAINT_SCHEMA = DATABASE() AND k.TABLE_NAME = $1 AND "
        "k.CHECK_CLAUSE = CONCAT('json_valid(`', c.COLUMN_NAME, '`)')), c.COLLATION_NAME "
        "FROM information_schema.COLUMNS AS c WHERE c.TABLE_SCHEMA = DATABASE() AND "
        "c.TABLE_NAME = $1 ORDER BY c.ORDINAL_POSITION",
        [&](rows const& listed) {
            for_each_row(listed, [&](row const& column) {
                auto const text = [&](int number) { return std::string{column.text(number)}; };
                auto const truth = [&](int number) { return column.integer(number) != 0; };
                columns_.push_back({text(0), text(1), text(2), column.integer(3),
                                    static_cast<int>(column.integer(4)),
                                    static_cast<int>(column.integer(5)), truth(6), truth(7),
                                    truth(8), truth(9), text(10)});
            });
        });
}

SETTLE_FUNCTION table_column table_check::column_for(member_descriptor const& member) const {
    column_found const& is = column_named(member.name);
    auto const name = shown_column(member.name);
    check_column(*need().find(member.name), is.generated, is.not_null);
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
    column.declared = is.declared;
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

SETTLE_FUNCTION fit_table settle_table(pool& from, collection_descriptor const& collection) {
    settle::detail::sql::check_names(collection, {"settle_"}, 64, parts::page);
    table_check checks{from, collection};
    return settle::detail::sql::repeat_while_held<parts::is_held>([&] {
        if (!checks.exists()) {
            auto session = from.take();
            session->send_sql(checks.create_sql(), "create a table");
            session->sync();
        }
        return checks.check();
    });
}

} // namespace mariadb::detail
SETTLE_END
