// SPDX-License-Identifier: BSL-1.0
// Members that count minor units of an amount, where other programs store a Decimal128.
#pragma once

#include <settle/definition/nested_type.hpp>
#include <settle/mongodb/field_codec.hpp>

SETTLE_BEGIN
namespace mongodb {

/// The number of decimal places of a member's documents: specialise it for a 64-bit member, and its
/// 1234 is the Decimal128 12.34. Negative: the member is no decimal.
/// Source:  mongodb#decimals
template <auto Member>
inline constexpr int decimal_places = -1;

namespace detail {

/// A count of units as a decimal with so many places: `-12.34`.
[[nodiscard]] std::string decimal_text(std::int64_t units, int places);

/// Reads a decimal as the library prints it: `-12.34`, `1E+3`, `NaN`.
/// Returns: false when it is not a whole number of units, or too large for them
[[nodiscard]] bool read_decimal_text(std::string_view text, int places, std::int64_t& units);

/// Appends a member in its stored form.
template <auto Member, typename Field>
void append_member(document& to, std::string_view name, Field const& value) {
    if constexpr (decimal_places<Member> >= 0) {
        static_assert(std::is_same_v<Field, std::int64_t>,
                      "settle: decimal_places is for a member of type std::int64_t, which counts "
                      "the smallest unit. See mongodb#decimals");
        static_assert(decimal_places<Member> <= 18, "settle: a 64-bit member counts no more than "
                                                    "18 decimal places. See mongodb#decimals");
        to.decimal(name, decimal_text(value, decimal_places<Member>));
    } else {
        append_field(to, name, value);
    }
}

/// Reads a member. Returns why the value does not fit it; empty when it was read.
template <auto Member, typename Field>
[[nodiscard]] std::string_view read_member(value_view const& from, Field& into) {
    if constexpr (decimal_places<Member> >= 0) {
        auto text = from.decimal();
        if (auto const whole = from.integer(); !text && whole) text = std::to_string(*whole);
        if (!text) return "is neither a decimal nor a whole number";
        return read_decimal_text(*text, decimal_places<Member>, into)
                   ? std::string_view{}
                   : "has more decimal places than its member counts, or is too large";
    } else {
        return read_field(from, into);
    }
}

} // namespace detail
} // namespace mongodb
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/mongodb/decimal.ipp>
#endif
