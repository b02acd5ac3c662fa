// SPDX-License-Identifier: BSL-1.0
// Members that count minor units of an amount, where other programs store a Decimal128.
#pragma once

#include <settle/definition/nested_type.hpp>
#include <settle/mongodb/records/field_codec.hpp>

SETTLE_BEGIN
namespace mongodb {

/// The number of decimal places of a member that documents store as a Decimal128. Specialize it for
/// a member of type std::int64_t: with 2 places, the member's 1234 is stored as 12.34. A negative
/// number means that the member is not stored as a decimal.
/// Source:  mongodb#decimals
template <auto Member>
inline constexpr int decimal_places = -1;

namespace detail {

/// A count of units as a decimal with so many places: `-12.34`.
[[nodiscard]] std::string decimal_text(std::int64_t units, int places);

/// Reads a decimal as the library prints it: `-12.34`, `1E+3`, `NaN`.
/// Returns: false when it is not a whole number of units, or too large for them
[[nodiscard]] bool read_decimal_text(std::string_view text, int places, std::int64_t& units);

/// The stored form of a member.
struct member_form {
    value_form const* value;
    int places = -1; ///< of a decimal, which counts in an std::int64_t; negative for other members
};

/// Appends a member in its stored form.
void append_member(document& to, std::string_view name, member_form const& form, void const* value);

/// Reads a member. Returns why the value does not fit it; empty when it was read.
[[nodiscard]] std::string_view read_member(value_view const& from, member_form const& form,
                                           void* value);

template <auto Member, typename Value>
[[nodiscard]] consteval member_form form_of_member() {
    constexpr int places = decimal_places<Member>;
    static_assert(places < 0 || std::is_same_v<Value, std::int64_t>,
                  "settle: decimal_places is for a member of type std::int64_t, which counts the "
                  "smallest unit. See mongodb#decimals");
    static_assert(places <= 18, "settle: a 64-bit member counts no more than 18 decimal places. "
                                "See mongodb#decimals");
    return {&form_of_value<Value>, places};
}

} // namespace detail
} // namespace mongodb
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/mongodb/connection/decimal.ipp>
#endif
