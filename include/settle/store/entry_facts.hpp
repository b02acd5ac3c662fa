// SPDX-License-Identifier: BSL-1.0
// Forms in which logs of rows and of documents write facts of an entry.
#pragma once

#include <settle/store/json_writer.hpp>
#include <settle/version.hpp>

#include <string>

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

} // namespace detail
SETTLE_END
