// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that json_writer.hpp declares.
#pragma once

#include <settle/store/json_writer.hpp>

#include <array>
#include <charconv>
#include <cstddef>

SETTLE_BEGIN

SETTLE_FUNCTION void append_json_integer(std::string& out, std::int64_t value) {
    std::array<char, 24> digits;
    auto const end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
    out.append(digits.data(), end);
}

namespace detail {

SETTLE_FUNCTION void append_json_escape(std::string& out, char character) {
    switch (character) {
    case '"': out += "\\\""; return;
    case '\\': out += "\\\\"; return;
    case '\b': out += "\\b"; return;
    case '\f': out += "\\f"; return;
    case '\n': out += "\\n"; return;
    case '\r': out += "\\r"; return;
    case '\t': out += "\\t"; return;
    default: break;
    }
    auto const code = static_cast<unsigned char>(character);
    out += "\\u00";
    out += hex_digit(code >> 4U);
    out += hex_digit(code);
}

} // namespace detail

SETTLE_FUNCTION void append_json_text(std::string& out, std::string_view text) {
    out += '"';
    std::size_t written = 0;
    for (std::size_t at = 0; at < text.size(); ++at) {
        auto const character = text[at];
        if (static_cast<unsigned char>(character) >= 0x20 && character != '"' &&
            character != '\\') {
            continue;
        }
        out.append(text.substr(written, at - written));
        detail::append_json_escape(out, character);
        written = at + 1;
    }
    out.append(text.substr(written));
    out += '"';
}

SETTLE_END
