// SPDX-License-Identifier: BSL-1.0
// Members that count minor units of an amount, where other programs store a Decimal128.
#pragma once

#include <settle/definition/nested_type.hpp>
#include <settle/mongodb/field_codec.hpp>

#include <charconv>

SETTLE_BEGIN
namespace mongodb {

/// The number of decimal places of a member's documents: specialise it for a 64-bit member, and its
/// 1234 is the Decimal128 12.34. Negative: the member is no decimal.
/// Source:  mongodb#decimals
template <auto Member>
inline constexpr int decimal_places = -1;

namespace detail {

/// `12.34` for 1234 and two places.
[[nodiscard]] inline std::string decimal_text(std::int64_t units, int places) {
    std::string digits = std::to_string(units);
    std::size_t const sign = units < 0 ? 1 : 0;
    auto const behind = static_cast<std::size_t>(places);
    if (digits.size() - sign <= behind) digits.insert(sign, behind + 1 + sign - digits.size(), '0');
    if (behind > 0) digits.insert(digits.size() - behind, 1, '.');
    return digits;
}

/// Reads a decimal as the library prints it: `-12.34`, `1E+3`, `NaN`.
/// Returns: false when it is not a whole number of units, or too large for them
[[nodiscard]] inline bool read_decimal_text(std::string_view text, int places,
                                            std::int64_t& units) {
    std::string digits;
    if (text.starts_with('-')) digits = '-';
    if (!digits.empty()) text.remove_prefix(1);
    std::int64_t exponent = places;
    bool behind = false;
    std::size_t at = 0;
    for (; at < text.size() && text[at] != 'E'; ++at) {
        bool const point = text[at] == '.';
        if (!point && (text[at] < '0' || text[at] > '9')) return false;
        if (!point) digits += text[at];
        if (!point && behind) --exponent;
        behind = behind || point;
    }
    if (at < text.size()) {
        auto const power = text.substr(at + (text.substr(at).starts_with("E+") ? 2 : 1));
        std::int64_t read = 0;
        if (std::from_chars(power.data(), power.data() + power.size(), read).ec != std::errc{}) {
            return false;
        }
        exponent += read;
    }
    bool const is_zero = digits.find_first_of("123456789") == std::string::npos;
    // No 64-bit number has more than 20 digits, so longer texts need no exact count.
    for (; exponent > 0 && !is_zero && digits.size() < 40; --exponent) digits += '0';
    for (; exponent < 0 && !is_zero; ++exponent) {
        if (digits.empty() || digits.back() != '0') return false;
        digits.pop_back();
    }
    if (is_zero) digits = "0";
    auto const* const end = digits.data() + digits.size();
    auto const number = std::from_chars(digits.data(), end, units);
    return number.ec == std::errc{} && number.ptr == end;
}

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
