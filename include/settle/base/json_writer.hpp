// SPDX-License-Identifier: BSL-1.0
// Writes JSON's scalars, always in the same form.
#pragma once

#include <settle/version.hpp>

#include <cstdint>
#include <string>
#include <string_view>

SETTLE_BEGIN

/// Appends the digits of an integer.
void append_json_integer(std::string& out, std::int64_t value);

namespace detail {

[[nodiscard]] constexpr char hex_digit(unsigned value) noexcept {
    return "0123456789abcdef"[value & 0xFU];
}

} // namespace detail

/// Appends a text with its quotes; only characters that JSON requires are escaped, so people can
/// read the rest.
/// Shape:   text - passes is_utf8; other bytes are written as they are, and no reader takes them
void append_json_text(std::string& out, std::string_view text);

SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/base/json_writer.ipp>
#endif
