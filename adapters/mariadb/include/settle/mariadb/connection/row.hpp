// SPDX-License-Identifier: BSL-1.0
// A row of a result, as the readers of entries, marks and members take it.
#pragma once

#include <settle/adapter/row_values.hpp>
#include <settle/mariadb/connection/error.hpp>
#include <settle/mariadb/connection/native.hpp>

SETTLE_BEGIN
namespace mariadb::detail {

using settle::detail::value_kind;

/// How long a native transaction is repeated after conflicts.
inline constexpr std::chrono::seconds longest_repetition{5};

struct row {
    rows const& result;
    int index;

    [[nodiscard]] std::string_view name(int column) const { return result.name(column); }
    /// A BIGINT UNSIGNED above the range of 64 bits is `other`.
    [[nodiscard]] value_kind kind(int column) const noexcept {
        if (result.is_null(index, column)) return value_kind::null;
        if (!result.is_integer(column)) return value_kind::text;
        return result.fits(index, column) ? value_kind::integer : value_kind::other;
    }
    [[nodiscard]] std::int64_t integer(int column) const noexcept {
        return result.integer(index, column);
    }
    [[nodiscard]] std::string_view text(int column) const noexcept {
        return result.text(index, column);
    }

    /// Raises the error of a column whose type has changed since it was bound.
    [[noreturn]] static void raise_altered() {
        throw failure(describe(table_altered, "", "its table was altered since this program began",
                               "read a record"));
    }
};

/// Calls a function for each row of a result.
template <typename Function>
void for_each_row(rows const& rows, Function&& function) {
    for (int at = 0; at < rows.size(); ++at) function(row{rows, at});
}

} // namespace mariadb::detail
SETTLE_END
