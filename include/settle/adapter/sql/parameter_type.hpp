// SPDX-License-Identifier: BSL-1.0
// The types of a statement's parameters, which each database has natively.
//
// A statement that does the work of a wave has the columns of the wave as its array parameters: the
// database shows them to SQL as the table `w`, whose columns `c0`, `c1`, … have the numbers of the
// parameters.
#pragma once

#include <settle/version.hpp>

#include <cstdint>
#include <vector>

SETTLE_BEGIN
namespace detail::sql {

/// The kind of a column's values.
enum class column_kind : std::uint8_t { text, integer, boolean };

struct parameter_type {
    column_kind kind = column_kind::text;
    bool is_array = false; ///< the values of a column of a wave
};

using parameter_types = std::vector<parameter_type>;

inline constexpr parameter_type text_value{column_kind::text};
inline constexpr parameter_type integer_value{column_kind::integer};
inline constexpr parameter_type text_array{column_kind::text, true};
inline constexpr parameter_type integer_array{column_kind::integer, true};

} // namespace detail::sql
SETTLE_END
