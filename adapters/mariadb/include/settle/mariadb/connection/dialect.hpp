// SPDX-License-Identifier: BSL-1.0
// MariaDB's SQL for the tables of adapter/sql/. A wave is a JSON text, or one row at a time.
// adapter/sql/dialect.hpp says what each function gives.
#pragma once

#include <settle/adapter/sql/dialect.hpp>
#include <settle/adapter/sql/table_column.hpp>
#include <settle/mariadb/connection/row.hpp>

SETTLE_BEGIN
namespace mariadb::detail {

struct table_column : settle::detail::sql::table_column {
    std::string declared{}; ///< its type, as the server shows it
};

struct dialect {
    using types_of_parameters = std::vector<parameter_type>;
    using assignments = settle::detail::sql::assignments;

    static constexpr bool returns_changes = false;
    static constexpr bool has_places = false;
    static constexpr std::string_view giving_places{};
    static constexpr std::string_view without_disk{}; ///< no setting of a session
    /// An UPDATE writes no row that it does not change.
    static constexpr std::size_t most_rows_of_one_update = most_single_rows;
    /// A row that grows costs as much as a commit.
    static constexpr bool committed_is_null = false;

    static std::string name(std::string const& text) { return quoted_name(text); }
    static std::string quoted(std::string_view text) { return quoted_name(text); }
    static std::string table_name(pool const& from, std::string_view text) {
        return from.schema_prefix() + quoted_name(text);
    }
    static std::string as_text(std::string const& value) { return value; }
    static std::string one() { return "1"; }
    static std::string read_sql(table_column const& column);
    static std::string write_sql(table_column const& column, std::string const& value);
    static std::string row_stands(std::string const&, std::string const&) { return {}; }
    static std::string in_time(std::string const& limit, std::string const& value) {
        return "IF(" + limit + " >= " + std::string{now_sql} + ", " + value + ", CAST('" +
               std::string{late_text} + "' AS SIGNED))";
    }
    static std::string exists(std::string const& table, std::string const& condition) {
        return "EXISTS (SELECT 1 FROM " + table + " WHERE " + condition + ")";
    }
    static std::string among(std::string const& key, std::string const& value) {
        return "\x01" + key + " = " + value + "\x02" + key + " IN (\x04" + value + "\x05)\x03";
    }
    /// The same, where a row may be named twice.
    /// Shape:   others - more such columns; the server does not look for them in an index
    static std::string among_many(assignments const& keys, assignments const& others = {});
    static std::string by_key(std::string const& key, std::string const& key_value,
                              std::string const& value) {
        return "\x01" + value + "\x02(CASE " + key + "\x04 WHEN " + key_value + " THEN " + value +
               "\x06 END)\x03";
    }

    static std::string lock(std::string const& list, types_of_parameters const& types,
                            std::string const& table, std::string const& alias,
                            std::string const& condition) {
        return look_up(list, types, table, alias, condition) + " FOR UPDATE";
    }
    static std::string look_up(std::string const& list, types_of_parameters const& types,
                               std::string const& table, std::string const& alias,
                               std::string const& condition) {
        return "SELECT " + list + " FROM " + beside_wave(types) + table + " AS " + alias +
               " WHERE " + condition;
    }
    static std::string update(std::string const& table, std::string const& alias,
                              assignments const& sets, types_of_parameters const& types,
                              std::string const& condition) {
        return "UPDATE " + beside_wave(types) + table + " AS " + alias + " SET " +
               settle::detail::sql::assignments_sql(sets, alias + ".") + " WHERE " + condition;
    }
    /// Entries that a change expects are locked and read before, so the update gives none of them.
    static std::string update_giving(std::string const&, std::string const& table,
                                     std::string const& alias, assignments const& sets,
                                     types_of_parameters const& types,
                                     std::string const& condition) {
        return update(table, alias, sets, types, condition);
    }
    static std::string update_found(std::string const& table, std::string const& alias,
                                    assignments const& sets, types_of_parameters const& types,
                                    std::string const& condition, assignments const& keys,
                                    assignments const& others) {
        // Each row takes values of its own, so no list can find it.
        return update(table, alias, sets, types,
                      both(condition, both(joined(keys), joined(others))));
    }
    static std::string erase(std::string const& table, std::string const& alias,
                             types_of_parameters const& types, std::string const& condition) {
        return "DELETE " + alias + " FROM " + beside_wave(types) + table + " AS " + alias +
               " WHERE " + condition;
    }
    /// A DELETE of one table takes no alias, and costs a fraction of one that may join tables.
    static std::string erased_name(std::string const& table, std::string const&) { return table; }
    static std::string erase_found(std::string const& table, std::string const& alias,
                                   types_of_parameters const& types, std::string const& condition,
                                   assignments const& keys, assignments const& others);
    static std::string insert(std::string const& table, std::string const& names,
                              std::string const& values, types_of_parameters const& types,
                              std::string const& condition);
    static std::string insert_absent(std::string const& table, std::string const& names,
                                     std::string const& values, types_of_parameters const& types,
                                     std::string const& condition, std::string const& key,
                                     std::string const& value) {
        auto const absent = "NOT " + exists(table + " AS held", "held." + key + " = " + value);
        return insert(table, names, values, types, both(absent, condition)) + " RETURNING " + key;
    }
    static std::string page_of_marks(std::string const& table);
    static std::string version(std::string const&) { return "NULL"; }
    static void begin_snapshot(connection& session) {
        // It counts for the next native transaction alone.
        session.send_sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ", "read");
        session.sync();
        session.begin();
    }

    static statement const& prepare_exact(pool& from, std::string const& sql,
                                          types_of_parameters types, char const* phase,
                                          std::string const& stands = {}) {
        types.push_back(settle::detail::sql::integer_value);
        return from.prepare(both(sql, stands), types, phase, expectation::all);
    }
    /// An update that changes nothing locks the rows, and costs a third of a query.
    static statement const& prepare_exact_lock(pool& from, std::string const& table,
                                               std::string const& alias, std::string const& key,
                                               types_of_parameters const& types,
                                               std::string const& given,
                                               std::string const& stands) {
        auto const condition = both(given, stands);
        // Of many rows, a query locks them ten times as fast.
        auto const many = "SELECT COUNT(*) FROM " + beside_wave(types) + table + " AS " + alias +
                          " WHERE " + condition + " FOR UPDATE";
        auto const few = update(table, alias, {{key, alias + "." + key}}, types, condition);
        return prepare_exact(from, either(many, few), types, "change records");
    }
    static statement const& prepare_absent(pool& from, types_of_parameters const& types,
                                           std::string const& table, std::string const& alias,
                                           std::string const& key, std::string const& value,
                                           std::string const& condition) {
        // Of many rows, a query costs a tenth.
        auto const many = "SELECT COUNT(*) FROM " + beside_wave(types) + table + " AS " + alias +
                          " WHERE " + key + " = " + value + " AND " + condition;
        auto const few = update(table, alias, {{"epoch", alias + ".epoch"}}, types,
                                among(key, value) + " AND " + condition);
        return from.prepare(either(many, few), types, "look for marks", expectation::no_row);
    }

private:
    /// The wave before a table, whose rows it finds in the order of the wave; empty in the form for
    /// one row.
    static std::string beside_wave(types_of_parameters const& types);
    /// A statement of one text for many rows, and of another for few.
    static std::string either(std::string const& many, std::string const& few) {
        return "\x01" + of_form(many, false) + "\x02" + of_form(few, true) + "\x03";
    }
    /// A text without its parts for the other form.
    static std::string of_form(std::string const& text, bool by_row);
    static std::string joined(assignments const& keys);
    static std::string both(std::string const& left, std::string const& right) {
        return left + (left.empty() || right.empty() ? "" : " AND ") + right;
    }
};

} // namespace mariadb::detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/mariadb/connection/dialect.ipp>
#endif
