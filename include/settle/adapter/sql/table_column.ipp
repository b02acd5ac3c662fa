// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that table_column.hpp declares.
#pragma once

#include <settle/adapter/sql/table_column.hpp>

#include <charconv>

SETTLE_BEGIN
namespace detail::sql {

SETTLE_FUNCTION column_kind table_column::kind() const noexcept {
    switch (form) {
    case column_form::boolean: return column_kind::boolean;
    case column_form::text:
    case column_form::cast: return column_kind::text;
    default: return column_kind::integer;
    }
}

SETTLE_FUNCTION std::string_view table_column::read_time(std::int64_t microseconds,
                                                         member_access const& access, void* value) {
    if (microseconds == no_time) return "holds a time that is not finite";
    auto const unit = micros(access);
    if (microseconds % unit != 0) return "holds a time between two times of the field";
    if (access.set_integer(value, microseconds / unit)) return {};
    return "holds a number that is none of the field's values";
}

SETTLE_FUNCTION std::string_view table_column::read_decimal(std::string_view text, int digits_after,
                                                            member_access const& access,
                                                            void* value) {
    // A decimal of a declared scale always has all its digits after the point.
    auto const point = text.find('.');
    auto const after = point == text.npos ? 0 : text.size() - point - 1;
    if (after != static_cast<std::size_t>(digits_after)) return other_scale;
    std::string digits{text};
    std::erase(digits, '.');
    std::int64_t number = 0;
    auto const* const end = digits.data() + digits.size();
    auto const read = std::from_chars(digits.data(), end, number);
    if (read.ec != std::errc{} || read.ptr != end) return "holds no number of the field";
    if (access.set_integer(value, number)) return {};
    return "holds a number that is none of the field's values";
}

SETTLE_FUNCTION void table_column::set_decimal(int precision, int digits_after_point) {
    form = column_form::decimal;
    scale = digits_after_point;
    std::int64_t power = 1;
    for (int digit = 0; digit < precision; ++digit) {
        if (__builtin_mul_overflow(power, std::int64_t{10}, &power)) return;
    }
    most = power - 1;
    least = -most;
}

} // namespace detail::sql
SETTLE_END
