// SPDX-License-Identifier: BSL-1.0
// Money in the samples: integers of hundredths in 64 bits, converted from and to decimal text.
#pragma once

#include "text.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>

namespace samples {

/// Reads an integer such as `6` or `-12`.
/// Shape:   name - of the value in a refusal: "quantity"
/// Errors:  input_error, with a sentence
inline std::int64_t parse_whole(std::string_view name, std::string_view text) {
    std::int64_t value = 0;
    auto const* const end = text.data() + text.size();
    auto const [stopped, error] = std::from_chars(text.data(), end, value);
    if (error == std::errc::result_out_of_range) {
        throw input_error(fmt::format("the {} '{}' goes beyond 64 bits", name, text));
    }
    if (error != std::errc{} || stopped != end) {
        throw input_error(fmt::format("the {} '{}' is not a number", name, text));
    }
    return value;
}

/// Reads decimal text such as `245.20`, `.80`, `1000` or `-12.3` as hundredths. No separator of
/// thousands and no decimal comma is guessed.
/// Errors:  input_error, with a sentence
inline std::int64_t parse_money(std::string_view name, std::string_view text) {
    auto const point = text.find('.');
    bool const has_point = point != std::string_view::npos;
    auto const decimals = has_point ? text.substr(point + 1) : std::string_view{};
    auto const digits = fmt::format("{}{:0<2}", text.substr(0, point), decimals);
    bool const is_decimal =
        !text.empty() && text != "-" && (!has_point || !decimals.empty()) &&
        digits.find_first_not_of("0123456789", text.starts_with('-') ? 1 : 0) == digits.npos;
    if (!is_decimal || decimals.size() > 2) {
        throw input_error(fmt::format("the {} '{}' is not a number such as 1245.20, with digits, "
                                      "and two decimals at most behind a point",
                                      name, text));
    }
    return parse_whole(name, digits);
}

/// Price times quantity; input_error on overflow.
inline std::int64_t multiply(std::int64_t price, std::int64_t quantity) {
    std::int64_t product = 0;
    if (__builtin_mul_overflow(price, quantity, &product)) {
        throw input_error(fmt::format("price times quantity {} goes beyond 64 bits", quantity));
    }
    return product;
}

/// The sum of both; input_error on overflow.
inline std::int64_t add(std::int64_t sum, std::int64_t more) {
    std::int64_t total = 0;
    if (__builtin_add_overflow(sum, more, &total)) {
        throw input_error("the money adds up to more than 64 bits hold; open with a smaller "
                          "--balance");
    }
    return total;
}

/// Hundredths as decimal text: 123456 is `1234.56`.
inline std::string format_money(std::int64_t hundredths) {
    bool const negative = hundredths < 0;
    // Negating the least number would overflow; its unsigned counterpart does not.
    auto const raw = static_cast<std::uint64_t>(hundredths);
    auto const size = negative ? std::uint64_t{0} - raw : raw;
    return fmt::format("{}{}.{:02}", negative ? "-" : "", size / 100, size % 100);
}

} // namespace samples
