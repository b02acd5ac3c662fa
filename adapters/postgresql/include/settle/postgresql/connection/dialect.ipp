// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that dialect.hpp declares.
#pragma once

#include <settle/postgresql/connection/dialect.hpp>

SETTLE_BEGIN
namespace postgresql::detail {

using settle::detail::sql::column_form;

SETTLE_FUNCTION std::string dialect::read_sql(table_column const& column) {
    auto sql = "t." + column.name;
    switch (column.form) {
    case column_form::decimal:
    case column_form::cast: return sql + "::text";
    case column_form::time: {
        auto const seconds = "extract(epoch from " + sql + ")";
        return "CASE WHEN abs(" + seconds + ") < 9000000000000 THEN (" + seconds +
               " * 1000000)::int8 WHEN " + sql + " IS NOT NULL THEN " +
               "(-9223372036854775808)::int8 END";
    }
    default: return sql;
    }
}

SETTLE_FUNCTION std::string dialect::write_sql(table_column const& column,
                                               std::string const& value) {
    switch (column.form) {
    case column_form::decimal:
        if (column.scale == 0) return value;
        return "(" + value + " * 0." +
               std::string(static_cast<std::size_t>(column.scale - 1), '0') + "1)";
    case column_form::time:
        return "(timestamptz 'epoch' + (" + value + " / 1000000) * interval '1 second' + (" +
               value + " % 1000000) * interval '1 microsecond')";
    case column_form::cast: return value + "::" + column.type;
    default: return value;
    }
}

SETTLE_FUNCTION bool dialect::has_wave(types_of_parameters const& types) {
    return std::any_of(types.begin(), types.end(), [](auto const& type) { return type.is_array; });
}

SETTLE_FUNCTION std::string dialect::wave(types_of_parameters const& types, bool ordinality) {
    return arrays_as_table(types.size(), ordinality,
                           [&](std::size_t number) { return types[number].is_array; });
}

SETTLE_FUNCTION std::string dialect::lock(std::string const& list, types_of_parameters const& types,
                                          std::string const& table, std::string const& alias,
                                          std::string const& condition) {
    // The server locks the rows in the order of the wave.
    return "SELECT " + list + " FROM " + wave(types, true) + " JOIN " + table + " AS " + alias +
           " ON " + condition + " ORDER BY w.n FOR NO KEY UPDATE OF " + alias;
}

SETTLE_FUNCTION std::string dialect::beside(types_of_parameters const& types,
                                            std::string const& list, std::string const& table,
                                            std::string const& alias, std::string const& condition,
                                            std::string const& name) {
    return wave(types, true) + " CROSS JOIN LATERAL (SELECT " + list + " FROM " + table + " AS " +
           alias + " WHERE " + condition + " OFFSET 0) AS " + name;
}

SETTLE_FUNCTION std::string dialect::look_up(std::string const& list,
                                             types_of_parameters const& types,
                                             std::string const& table, std::string const& alias,
                                             std::string const& condition) {
    return "SELECT " + list + " FROM " +
           beside(types, alias + ".*, " + alias + ".xmin", table, alias, condition, alias);
}

SETTLE_FUNCTION std::string dialect::update(std::string const& table, std::string const& alias,
                                            assignments const& sets,
                                            types_of_parameters const& types,
                                            std::string const& condition, bool ordinality) {
    return "UPDATE " + table + " AS " + alias + " SET " +
           settle::detail::sql::assignments_sql(sets) +
           (has_wave(types) ? " FROM " + wave(types, ordinality) : "") + " WHERE " + condition;
}

SETTLE_FUNCTION std::string dialect::found(std::string const& table, std::string const& alias,
                                           types_of_parameters const& types,
                                           std::string const& condition, assignments const& keys,
                                           assignments const& others) {
    return beside(types, alias + ".ctid", table, alias, condition + " AND " + among_many(keys),
                  "k") +
           " WHERE " + alias + ".ctid = k.ctid AND " + among_many(others);
}

SETTLE_FUNCTION std::string dialect::insert(std::string const& table, std::string const& names,
                                            std::string const& values,
                                            types_of_parameters const& types,
                                            std::string const& condition) {
    return "INSERT INTO " + table + "(" + names + ") OVERRIDING SYSTEM VALUE SELECT " + values +
           (has_wave(types) ? " FROM " + wave(types) : "") +
           (condition.empty() ? "" : " WHERE " + condition);
}

SETTLE_FUNCTION std::string dialect::page_of_marks(std::string const& table) {
    return "SELECT id, participant, line, collection, key, epoch FROM " + table +
           " WHERE collection = ANY($1) AND (collection, key, id, participant, line) > "
           "($2, $3, $4, $5, $6) ORDER BY collection, key, id, participant, line LIMIT $7";
}

SETTLE_FUNCTION statement const&
dialect::prepare_exact_lock(pool& from, std::string const& table, std::string const& alias,
                            std::string const&, types_of_parameters types,
                            std::string const& condition, std::string const& stands) {
    auto const sql = "SELECT FROM " + table + " AS " + alias + ", " + wave(types) + " WHERE " +
                     condition + " FOR NO KEY UPDATE OF " + alias;
    auto const counted = counting(sql, types.size(), stands);
    types.push_back(settle::detail::sql::integer_value);
    return from.prepare(counted, types, "change records");
}

SETTLE_FUNCTION statement const&
dialect::prepare_absent(pool& from, types_of_parameters const& types, std::string const& table,
                        std::string const& alias, std::string const& key, std::string const& value,
                        std::string const& condition) {
    return from.prepare(
        "SELECT " + raised_sql(wrong_count, value) + " FROM " +
            beside(types, "", table, alias, key + " = " + value + " AND " + condition, alias),
        types, "look for marks");
}

} // namespace postgresql::detail
SETTLE_END
