// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that decimal.hpp declares.
#pragma once

#include <settle/mongodb/connection/decimal.hpp>

#include <charconv>
#include <system_error>

SETTLE_BEGIN

namespace mongodb::detail {

/// `12.34` for 1234 and two places.
[[nodiscard]] SETTLE_FUNCTION std::string decimal_text(std::int64_t units, int places) {
    std::string digits = std::to_string(units);
    std::size_t const sign = units < 0 ? 1 : 0;
    auto const decimals = static_cast<std::size_t>(places);
    if (digits.size() - sign <= decimals) {
        digits.insert(sign, decimals + 1 + sign - digits.size(), '0');
    }
    if (decimals > 0) digits.insert(digits.size() - decimals, 1, '.');
    return digits;
}

SETTLE_FUNCTION bool read_decimal_text(std::string_view text, int places, std::int64_t& units) {
    std::string digits;
    if (text.starts_with('-')) digits = '-';
    if (!digits.empty()) text.remove_prefix(1);
    std::int64_t exponent = places;
    bool past_point = false;
    std::size_t index = 0;
    for (; index < text.size() && text[index] != 'E'; ++index) {
        bool const point = text[index] == '.';
        if (!point && (text[index] < '0' || text[index] > '9')) return false;
        if (!point) digits += text[index];
        if (!point && past_point) --exponent;
        past_point = past_point || point;
    }
    if (index < text.size()) {
        auto const power = text.substr(index + (text.substr(index).starts_with("E+") ? 2 : 1));
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

SETTLE_FUNCTION void append_member(document& to, std::string_view name, member_form const& form,
                                   void const* value) {
    if (form.places < 0) return form.value->append(to, name, value);
    to.decimal(name, decimal_text(*static_cast<std::int64_t const*>(value), form.places));
}

SETTLE_FUNCTION std::string_view read_member(value_view const& from, member_form const& form,
                                             void* value) {
    if (form.places < 0) return form.value->read(from, value);
    auto text = from.decimal();
    if (auto const whole = from.integer(); !text && whole) text = std::to_string(*whole);
    if (!text) return "is neither a decimal nor a whole number";
    return read_decimal_text(*text, form.places, *static_cast<std::int64_t*>(value))
               ? std::string_view{}
               : "has more decimal places than its member counts, or is too large";
}

} // namespace mongodb::detail

SETTLE_END
