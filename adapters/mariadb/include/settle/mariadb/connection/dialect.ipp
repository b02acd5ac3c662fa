// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that dialect.hpp declares.
#pragma once

#include <settle/mariadb/connection/dialect.hpp>

#include <algorithm>

SETTLE_BEGIN
namespace mariadb::detail {

using settle::detail::sql::column_form;

SETTLE_FUNCTION std::string dialect::read_sql(table_column const& column) {
    auto sql = "t." + column.name;
    if (column.form != column_form::time) return sql;
    return "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', " + sql + ")";
}

SETTLE_FUNCTION std::string dialect::write_sql(table_column const& column,
                                               std::string const& value) {
    switch (column.form) {
    case column_form::decimal:
        if (column.scale == 0) return value;
        return "(" + value + " * 0." +
               std::string(static_cast<std::size_t>(column.scale - 1), '0') + "1)";
    case column_form::time: return "TIMESTAMPADD(MICROSECOND, " + value + ", '1970-01-01')";
    case column_form::cast: return "CAST(" + value + " AS " + column.type + ")";
    default: return value;
    }
}

[[nodiscard]] SETTLE_FUNCTION bool has_wave(std::vector<parameter_type> const& types) {
    return std::any_of(types.begin(), types.end(), [](auto const& type) { return type.is_array; });
}

SETTLE_FUNCTION std::string dialect::beside_wave(types_of_parameters const& types) {
    return has_wave(types) ? "\x01" + wave_sql(types, true) + " STRAIGHT_JOIN \x02\x03" : "";
}

SETTLE_FUNCTION std::string dialect::erase_found(std::string const& table, std::string const& alias,
                                                 types_of_parameters const& types,
                                                 std::string const& condition,
                                                 assignments const& keys,
                                                 assignments const& others) {
    auto const rows = both(condition, among_many(keys, others));
    auto const many = "DELETE " + alias + " FROM " + beside_wave(types) + table + " WHERE " + rows;
    return either(many, "DELETE FROM " + table + " WHERE " + rows);
}

SETTLE_FUNCTION std::string dialect::joined(assignments const& keys) {
    std::string sql;
    for (auto const& [name, value] : keys) sql = both(sql, name + " = " + value);
    return sql;
}

SETTLE_FUNCTION std::string dialect::among_many(assignments const& keys,
                                                assignments const& others) {
    std::string names;
    std::string values;
    for (auto const* const all : {&keys, &others}) {
        for (auto const& [name, value] : *all) {
            names.append(names.empty() ? "" : ", ").append(name);
            values.append(values.empty() ? "" : ", ").append(value);
        }
    }
    return "\x01" + both(joined(keys), joined(others)) + "\x02(" + names + ") IN (\x04(" + values +
           ")\x07)\x03";
}

SETTLE_FUNCTION std::string dialect::of_form(std::string const& text, bool by_row) {
    std::string kept;
    char part = '\3';
    for (char const sign : text) {
        if (sign >= '\1' && sign <= '\3') part = sign;
        else if (part != (by_row ? '\1' : '\2')) kept += sign;
    }
    return kept;
}

SETTLE_FUNCTION std::string dialect::insert(std::string const& table, std::string const& names,
                                            std::string const& values,
                                            types_of_parameters const& types,
                                            std::string const& condition) {
    auto const into = "INSERT INTO " + table + "(" + names + ") ";
    auto const select = "SELECT " + values + " FROM ";
    if (condition.empty()) {
        // A SELECT costs as much as two inserts.
        if (!has_wave(types)) return into + "VALUES (" + values + ")";
        return into + "\x01" + select + wave_sql(types, false) + "\x02VALUES \x04(" + values +
               ")\x05\x03";
    }
    auto const source = has_wave(types) ? "\x01" + wave_sql(types, false) +
                                              "\x02"
                                              "DUAL\x03"
                                        : "DUAL";
    return into + select + source + " WHERE " + condition;
}

SETTLE_FUNCTION std::string dialect::page_of_marks(std::string const& table) {
    // The server finds no range for a comparison of rows.
    std::string after;
    std::string ends;
    int number = 2;
    for (auto const* const column : {"m.collection", "m.`key`", "m.id", "m.participant"}) {
        auto const value = "$" + std::to_string(number++);
        after.append("(").append(column).append(" > ").append(value).append(" OR (");
        after.append(column).append(" = ").append(value).append(" AND ");
        ends += "))";
    }
    return "SELECT m.id, m.participant, m.line, m.collection, m.`key`, m.epoch FROM " + table +
           " AS m WHERE m.collection IN (SELECT w.c0 FROM " +
           wave_sql(std::vector{settle::detail::sql::text_array}, false) + ") AND " + after +
           "m.line > $6" + ends +
           " ORDER BY m.collection, m.`key`, m.id, m.participant, m.line LIMIT $7";
}

} // namespace mariadb::detail
SETTLE_END
