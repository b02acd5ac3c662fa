// SPDX-License-Identifier: BSL-1.0
// A row of a result, as the readers of entries, marks and members take it; and the statements of a
// native transaction that must change exactly the rows that are meant.
#pragma once

#include <settle/adapter/row_values.hpp>
#include <settle/postgresql/connection/native.hpp>
#include <settle/postgresql/connection/wave_source.hpp>

SETTLE_BEGIN
namespace postgresql::detail {

using settle::detail::value_kind;

/// How long a native transaction is repeated after conflicts.
inline constexpr std::chrono::seconds longest_repetition{5};

struct row {
    rows const& result;
    int index;

    [[nodiscard]] std::string_view name(int column) const {
        return PQfname(result.native(), column);
    }
    [[nodiscard]] value_kind kind(int column) const noexcept {
        constexpr Oid int2 = 21;
        constexpr Oid int4 = 23;
        if (result.is_null(index, column)) return value_kind::null;
        auto const type = PQftype(result.native(), column);
        bool const number = is_boolean(type) || type == static_cast<Oid>(value_type::int8) ||
                            type == int2 || type == int4;
        return number ? value_kind::integer : value_kind::text;
    }
    [[nodiscard]] std::int64_t integer(int column) const noexcept {
        if (is_boolean(PQftype(result.native(), column)))
            return result.boolean(index, column) ? 1 : 0;
        return result.integer(index, column);
    }
    [[nodiscard]] std::string_view text(int column) const noexcept {
        return result.text(index, column);
    }

private:
    static bool is_boolean(Oid type) noexcept {
        return type == static_cast<Oid>(value_type::boolean);
    }
};

/// Calls a function for each row of a result.
template <typename Function>
void for_each_row(rows const& rows, Function&& function) {
    for (int at = 0; at < rows.size(); ++at) function(row{rows, at});
}

/// Makes a statement that fails with wrong_count if the number of rows differs from the last
/// parameter; its native transaction then has no effect.
/// Shape:   sql - a query; count - the number of its parameters; condition - SQL without a column
///          that must hold, too: it fails with table_altered
[[nodiscard]] inline std::string counting(std::string const& sql, std::size_t count,
                                          std::string const& condition = "true") {
    return "WITH done AS (" + sql + ") SELECT CASE WHEN (" + condition + ") IS NOT TRUE THEN " +
           raised_sql(table_altered, "count(*)") + " WHEN count(*) = $" +
           std::to_string(count + 1) + " THEN 1 ELSE " + raised_sql(wrong_count, "count(*)") +
           " END FROM done";
}
/// The same for the rows that INSERT, UPDATE or DELETE changes.
[[nodiscard]] inline std::string expecting(std::string const& sql, std::size_t count,
                                           std::string const& condition = "true") {
    return counting(sql + " RETURNING 1", count, condition);
}

/// Runs a native transaction of one statement or a few.
/// Errors:  throws settle::failure if it was not committed
inline void perform_or_throw(pool& pool, native_transaction::action action) {
    native_transaction{pool}.perform_or_throw(action, longest_repetition);
}

} // namespace postgresql::detail
SETTLE_END
