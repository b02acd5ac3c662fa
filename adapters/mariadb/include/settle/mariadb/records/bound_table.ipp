// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that bound_table.hpp declares.
#pragma once

#include <settle/mariadb/records/bound_table.hpp>

SETTLE_BEGIN
namespace mariadb::detail {

using settle::detail::sql::column_form;
using settle::detail::sql::other_column;

/// How the value of a column becomes a text from which the same value can be made, byte by byte.
enum class image_form : std::uint8_t { bytes, number, real, text };

[[nodiscard]] SETTLE_FUNCTION image_form form_of_image(other_column const& column) {
    auto const& base = column.base;
    auto const is_one_of = [&](std::initializer_list<std::string_view> types) {
        return std::find(types.begin(), types.end(), base) != types.end();
    };
    if (base == "float" || base == "double") return image_form::real;
    // A BIT and a SET are the numbers of their bits.
    if (is_one_of({"bit", "set"})) return image_form::number;
    if (is_one_of({"tinyint", "smallint", "mediumint", "int", "bigint", "decimal", "year", "date",
                   "datetime", "timestamp", "time", "enum", "inet4", "inet6", "uuid"})) {
        return image_form::text;
    }
    // The bytes of a text have the character set of its column.
    return image_form::bytes;
}

[[nodiscard]] SETTLE_FUNCTION std::string text_of_other(other_column const& column) {
    auto const name = "t." + quoted_name(column.name);
    switch (form_of_image(column)) {
    case image_form::bytes: return "HEX(" + name + ")";
    case image_form::number: return "CAST(" + name + " + 0 AS CHAR)";
    // A FLOAT as a text has six digits, and a DOUBLE has all.
    case image_form::real: return "CAST(" + name + " + 0e0 AS CHAR)";
    default: return "CAST(" + name + " AS CHAR)";
    }
}

[[nodiscard]] SETTLE_FUNCTION std::string value_of_other(other_column const& column,
                                                         std::string const& text) {
    switch (form_of_image(column)) {
    case image_form::bytes: return "UNHEX(" + text + ")";
    case image_form::number: return "CAST(" + text + " AS UNSIGNED)";
    case image_form::real: return "CAST(" + text + " AS DOUBLE)";
    default: return text;
    }
}

/// The columns that no member names, as a JSON object of their texts.
[[nodiscard]] SETTLE_FUNCTION std::string json_of_others(std::vector<other_column> const& others) {
    std::string sql;
    for (auto const& column : others) {
        sql.append(sql.empty() ? "JSON_OBJECT(" : ", ").append(quoted_text(column.name));
        sql.append(", ").append(text_of_other(column));
    }
    return sql.empty() ? sql : sql + ")";
}

/// SQL that is true for a row while its numbers and times have the digits after the point that they
/// had when the table was bound.
[[nodiscard]] SETTLE_FUNCTION std::string digits_stand(std::vector<table_column> const& columns) {
    std::string sql;
    for (auto const& column : columns) {
        if (column.kind() != settle::detail::sql::column_kind::integer) continue;
        auto const digits = std::string(static_cast<std::size_t>(column.scale), '_');
        sql.append(sql.empty() ? "(t." : " AND (t.").append(column.name);
        sql +=
            digits.empty() ? " LIKE '%.%') IS NOT TRUE" : " LIKE '%." + digits + "') IS NOT FALSE";
    }
    return sql;
}

/// A statement that fails if a column that takes another unit than the member's has not the type
/// that it had when the table was bound; null without such a column.
[[nodiscard]] SETTLE_FUNCTION statement const*
check_of_types(pool& from, collection_descriptor const& collection, fit_table const& table) {
    std::size_t count = 0;
    std::string columns;
    for (std::size_t member = 0; member < table.columns.size(); ++member) {
        auto const& column = table.columns[member];
        if (column.form != column_form::decimal && column.form != column_form::time) continue;
        columns.append(count++ == 0 ? "" : " OR ").append("(COLUMN_NAME = ");
        columns.append(quoted_text(collection.members()[member].name))
            .append(" AND COLUMN_TYPE = ");
        columns.append(quoted_text(column.declared)).append(")");
    }
    if (count == 0) return nullptr;
    return &from.prepare("IF (SELECT COUNT(*) FROM information_schema.COLUMNS WHERE TABLE_SCHEMA "
                         "= DATABASE() AND TABLE_NAME = " +
                             quoted_text(collection.name) + " AND (" + columns + ")) <> " +
                             std::to_string(count) + " THEN " + raised_sql(table_altered) +
                             "; END IF",
                         {}, "create records");
}

SETTLE_FUNCTION bound_table::bound_table(pool& from, collection_descriptor const& collection,
                                         fit_table const& table)
    : settle::detail::sql::bound_table<parts>(from, collection, table, digits_stand(table.columns),
                                              json_of_others(table.others),
                                              check_of_types(from, collection, table)) {
    std::string held;
    for (auto const& column : others()) {
        auto const column_name = "t." + quoted_name(column.name);
        // Strict SQL refuses the empty text that an ENUM holds after a wrong value.
        if (column.base == "enum") held += " AND NOT " + column_name + " + 0 <=> 0";
        // A text of over max_allowed_packet is NULL.
        held += " AND (" + text_of_other(column) + " IS NULL) = (" + column_name + " IS NULL)";
    }
    using namespace settle::detail::sql;
    auto const& key = key_column();
    auto const has_key = "t." + key.name + " = " + dialect::write_sql(key, "$1");
    auto const count = "(SELECT COUNT(*) FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = "
                       "DATABASE() AND TABLE_NAME = " +
                       quoted_text(collection.name) + ") <> " + std::to_string(count_of_columns());
    check_image_ =
        &from.prepare("IF " + count + " THEN " + raised_sql(table_altered) +
                          "; ELSEIF NOT EXISTS (SELECT 1 FROM " + name() + " AS t WHERE " +
                          has_key + held + ") THEN " + raised_sql(no_way_back) + "; END IF",
                      {key.element()}, "erase a row that a reversal could not bring back");
}

SETTLE_FUNCTION void bound_table::send_check_of_image(connection& to, part_key const& key,
                                                      std::string_view others) const {
    // An object of over max_allowed_packet is NULL.
    if (has_others() && others == "{}") {
        throw failure(describe(no_way_back, "", "its other columns have over max_allowed_packet",
                               "erase a row that a reversal could not bring back"));
    }
    parameters values;
    // A row with the key was read.
    static_cast<void>(key_column().give_key(values, key));
    to.send(*check_image_, values);
}

SETTLE_FUNCTION void bound_table::send_restored(connection& to, void const* record,
                                                std::string_view image) const {
    auto columns = names();
    auto value_list = values();
    auto types = member_arrays();
    auto const restored = read_others(image);
    void const* const only[]{record};
    auto const arrays = arrays_of(only);
    parameters bound{arrays};
    send_check_of_types(to);
    for (auto const& [column, value] : restored) {
        types.push_back(settle::detail::sql::text_value);
        columns += ", " + quoted_name(column->name);
        value_list += ", " + value_of_other(*column, "$" + std::to_string(types.size()));
        bound.bind(value);
    }
    auto const& insert = from().prepare(dialect::insert(name(), columns, value_list, types, ""),
                                        types, "create a record");
    to.send(insert, bound);
}

} // namespace mariadb::detail
SETTLE_END
