// SPDX-License-Identifier: BSL-1.0
// Money in the samples: integers of hundredths in 64 bits, converted from and to decimal text.
#pragma once

#include "input_error.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>

namespace samples {

namespace detail {

/// The text in quotes, shortened if it is very long.
inline std::string quoted(std::string_view text) {
    constexpr std::size_t enough = 40;
    if (text.size() <= enough) return fmt::format("'{}'", text);
    std::size_t end = enough;
    // Cuts only between characters.
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
    return fmt::format("'{}…'", text.substr(0, end));
}

inline bool only_digits(std::string_view text) {
    return text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// Parses the whole text as a number; from_chars alone would accept "12abc".
inline std::int64_t to_int64(std::string_view name, std::string_view text,
                             std::string_view digits) {
    std::int64_t value = 0;
    auto const end = digits.data() + digits.size();
    auto const [stopped, error] = std::from_chars(digits.data(), end, value);
    if (error == std::errc::result_out_of_range) {
        throw input_error(fmt::format("the {} {} goes beyond 64 bits", name, quoted(text)));
    }
    if (error != std::errc{} || stopped != end) {
        throw input_error(fmt::format("the {} {} is not a number", name, quoted(text)));
    }
    return value;
}

} // namespace detail

/// Reads decimal text such as `245.20`, `.80`, `1000`, `-12.3` or `12,50` as hundredths. A comma is
/// a decimal point only before the last one or two digits.
/// Shape:   name - of the value in a refusal: "amount"
/// Errors:  input_error, with a sentence: empty, no number, three decimals, beyond 64 bits
inline std::int64_t parse_money(std::string_view name, std::string_view text) {
    if (text.empty()) throw input_error(fmt::format("the {} is empty", name));
    bool const negative = text.front() == '-';
    auto const number = text.substr(negative ? 1 : 0);
    auto const point = number.find_first_of(".,");
    auto const whole = number.substr(0, point);
    bool const has_point = point != std::string_view::npos;
    auto const decimals = has_point ? number.substr(point + 1) : std::string_view{};
    bool const comma = has_point && number[point] == ',';
    bool const several = decimals.find_first_of(".,") != std::string_view::npos;
    bool const grouped = several || (comma && decimals.size() > 2);
    if (grouped && !whole.empty() && detail::only_digits(whole) &&
        decimals.find_first_not_of("0123456789.,") == std::string_view::npos) {
        throw input_error(fmt::format("the {} {} seems to have thousands separators, and may mean "
                                      "more than one number; write it as 1234.50",
                                      name, detail::quoted(text)));
    }
    bool const ends_early = decimals.empty() && (has_point || whole.empty());
    if (ends_early || !detail::only_digits(whole) || !detail::only_digits(decimals)) {
        throw input_error(fmt::format("the {} {} is not a decimal number such as 245.20", name,
                                      detail::quoted(text)));
    }
    if (decimals.size() > 2) {
        throw input_error(
            fmt::format("the {} {} has more than two decimals", name, detail::quoted(text)));
    }
    // The sign is parsed as well: the least 64-bit number has no positive counterpart.
    auto digits = fmt::format("{}{}{:0<2}", negative ? "-" : "", whole, decimals);
    return detail::to_int64(name, text, digits);
}

/// Reads an integer such as `6` or `-12`; errors as for parse_money.
inline std::int64_t parse_whole(std::string_view name, std::string_view text) {
    if (text.empty()) throw input_error(fmt::format("the {} is empty", name));
    return detail::to_int64(name, text, text);
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
