// SPDX-License-Identifier: BSL-1.0
// Facts of entries that logs of rows and of documents share: the text form of a fingerprint, and
// the bound of a reason's text.
#pragma once

#include <settle/base/json_writer.hpp>
#include <settle/base/utf8.hpp>
#include <settle/version.hpp>

#include <charconv>
#include <string>
#include <string_view>

SETTLE_BEGIN
namespace detail {

/// A fingerprint as entries show it: 16 hexadecimal digits.
[[nodiscard]] inline std::string hex_of(std::uint64_t number) {
    std::string digits(16, '0');
    for (std::size_t at = 16; at-- > 0; number >>= 4U) {
        digits[at] = hex_digit(static_cast<unsigned>(number & 0xfU));
    }
    return digits;
}

/// Reads such digits. False if the text is no number.
[[nodiscard]] inline bool read_hex(std::string_view digits, std::uint64_t& number) {
    auto const* const end = digits.data() + digits.size();
    auto const read = std::from_chars(digits.data(), end, number, 16);
    return read.ec == std::errc{} && read.ptr == end;
}

/// The text of a cancel's reason as an entry keeps it and as a log reads it: at most 500 bytes, all
/// of them UTF-8.
[[nodiscard]] constexpr std::string_view bounded_reason(std::string_view text) noexcept {
    constexpr std::size_t most = 500;
    text = text.substr(0, most);
    return text.substr(0, utf8_prefix(text));
}

} // namespace detail
SETTLE_END
