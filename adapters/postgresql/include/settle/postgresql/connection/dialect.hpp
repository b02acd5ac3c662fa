// SPDX-License-Identifier: BSL-1.0
// PostgreSQL's SQL for the tables of adapter/sql/. The columns of a wave are arrays.
// adapter/sql/dialect.hpp says what each function gives.
#pragma once

#include <settle/adapter/sql/dialect.hpp>
#include <settle/adapter/sql/table_column.hpp>
#include <settle/postgresql/connection/row.hpp>

SETTLE_BEGIN
namespace postgresql::detail {

using settle::detail::sql::parameter_type;

struct table_column : settle::detail::sql::table_column {
    std::int64_t type_id = 0;        ///< of the declared type
    std::int64_t type_modifier = -1; ///< its length, precision and scale
};

struct dialect {
    using types_of_parameters = std::vector<parameter_type>;
    using assignments = settle::detail::sql::assignments;

    static constexpr bool returns_changes = true;
    static constexpr bool has_places = true;
    static constexpr std::string_view giving_places = " RETURNING ctid::text";
    static constexpr std::string_view without_disk = "SET LOCAL synchronous_commit = off";
    /// A native transaction that changes no row would not wait.
    static constexpr std::string_view with_disk =
        "SELECT pg_catalog.pg_logical_emit_message(true, 'settle', '')";
    static constexpr std::size_t most_rows_of_one_update = 0;
    static constexpr bool committed_is_null = true;

    static std::string name(std::string const& text) { return text; }
    static std::string quoted(std::string_view text) { return quoted_name(text); }
    static std::string table_name(pool const& from, std::string_view text) {
        return from.schema_prefix() + quoted_name(text);
    }
    static std::string as_text(std::string const& value) { return value + "::text"; }
    static std::string one() { return "1::int8"; }
    static std::string read_sql(table_column const& column);
    static std::string write_sql(table_column const& column, std::string const& value);
    /// Shape:   value - of the row; it keeps the server from raising the error at once
    static std::string row_stands(std::string const& stands, std::string const& value) {
        return " AND CASE WHEN " + stands + " THEN true ELSE " + raised_sql(table_altered, value) +
               " = 0 END";
    }
    /// A value that the server raises an error for once its clock has passed a limit.
    static std::string in_time(std::string const& limit, std::string const& value) {
        return "CASE WHEN " + limit + " >= " + std::string{time_sql} + " THEN " + value + " ELSE " +
               raised_sql(too_late, limit) + " END";
    }
    static std::string exists(std::string const& table, std::string const& condition) {
        return "EXISTS (SELECT FROM " + table + " WHERE " + condition + " OFFSET 0)";
    }
    static std::string among(std::string const& key, std::string const& value) {
        return key + " = " + value;
    }
    static std::string among_many(assignments const& keys) {
        std::string sql;
        for (auto const& [name, value] : keys) {
            sql.append(sql.empty() ? "" : " AND ").append(among(name, value));
        }
        return sql;
    }
    static std::string by_key(std::string const&, std::string const&, std::string const& value) {
        return value;
    }

    static std::string lock(std::string const& list, types_of_parameters const& types,
                            std::string const& table, std::string const& alias,
                            std::string const& condition);
    static std::string look_up(std::string const& list, types_of_parameters const& types,
                               std::string const& table, std::string const& alias,
                               std::string const& condition);
    static std::string update(std::string const& table, std::string const& alias,
                              assignments const& sets, types_of_parameters const& types,
                              std::string const& condition, bool ordinality = false);
    static std::string update_giving(std::string const& list, std::string const& table,
                                     std::string const& alias, assignments const& sets,
                                     types_of_parameters const& types,
                                     std::string const& condition) {
        return update(table, alias, sets, types, condition, true) + " RETURNING " + list;
    }
    static std::string erase(std::string const& table, std::string const& alias,
                             types_of_parameters const& types, std::string const& condition) {
        return "DELETE FROM " + table + " AS " + alias + " USING " + wave(types) + " WHERE " +
               condition;
    }
    static std::string update_found(std::string const& table, std::string const& alias,
                                    assignments const& sets, types_of_parameters const& types,
                                    std::string const& condition, assignments const& keys,
                                    assignments const& others) {
        return "UPDATE " + table + " AS " + alias + " SET " +
               settle::detail::sql::assignments_sql(sets) + " FROM " +
               found(table, alias, types, condition, keys, others);
    }
    static std::string is_at(std::string const& alias, std::string const& place) {
        return alias + ".ctid = " + place + "::tid";
    }
    static std::string erased_name(std::string const&, std::string const& alias) { return alias; }
    static std::string erase_found(std::string const& table, std::string const& alias,
                                   types_of_parameters const& types, std::string const& condition,
                                   assignments const& keys, assignments const& others) {
        return "DELETE FROM " + table + " AS " + alias + " USING " +
               found(table, alias, types, condition, keys, others);
    }
    static std::string insert(std::string const& table, std::string const& names,
                              std::string const& values, types_of_parameters const& types,
                              std::string const& condition);
    static std::string insert_absent(std::string const& table, std::string const& names,
                                     std::string const& values, types_of_parameters const& types,
                                     std::string const& condition, std::string const& key,
                                     std::string const&) {
        return insert(table, names, values, types, condition) + " ON CONFLICT (" + key +
               ") DO NOTHING RETURNING " + key + "::text";
    }
    static std::string page_of_marks(std::string const& table);
    static std::string version(std::string const& alias) { return alias + ".xmin::text::int8"; }
    static void begin_snapshot(connection& session) {
        session.begin();
        session.send_sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY", "read");
    }

    static statement const& prepare_exact(pool& from, std::string const& sql,
                                          types_of_parameters types, char const* phase,
                                          std::string const& stands = "true") {
        auto const counted = expecting(sql, types.size(), stands);
        types.push_back(settle::detail::sql::integer_value);
        return from.prepare(counted, types, phase);
    }
    static statement const& prepare_exact_lock(pool& from, std::string const& table,
                                               std::string const& alias, std::string const&,
                                               types_of_parameters types,
                                               std::string const& condition,
                                               std::string const& stands);
    static statement const& prepare_absent(pool& from, types_of_parameters const& types,
                                           std::string const& table, std::string const& alias,
                                           std::string const& key, std::string const& value,
                                           std::string const& condition);

private:
    /// The arrays among the parameters as the table `w` of their columns.
    static std::string wave(types_of_parameters const& types, bool ordinality = false);
    static bool has_wave(types_of_parameters const& types);
    /// The rows of a wave, each with the row of the table that it finds. In a join of one step, the
    /// server may read all rows of the table for each row of the wave, since it expects few rows.
    static std::string beside(types_of_parameters const& types, std::string const& list,
                              std::string const& table, std::string const& alias,
                              std::string const& condition, std::string const& name);
    /// The rows of a table that a wave finds by their keys, by their places.
    static std::string found(std::string const& table, std::string const& alias,
                             types_of_parameters const& types, std::string const& condition,
                             assignments const& keys, assignments const& others);
};

} // namespace postgresql::detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/postgresql/connection/dialect.ipp>
#endif
