// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that json_writer.hpp declares.
#pragma once

#include <settle/base/json_writer.hpp>

#include <algorithm>
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

/// True for each character that a text in JSON holds as it is.
inline constexpr auto plain_in_json = [] {
    std::array<bool, 256> plain{};
    for (std::size_t code = 0x20; code < plain.size(); ++code) {
        plain[code] = code != '"' && code != '\\';
    }
    return plain;
}();

} // namespace detail

SETTLE_FUNCTION void append_json_text(std::string& out, std::string_view text) {
    auto const is_plain = [](char character) {
        return detail::plain_in_json[static_cast<unsigned char>(character)];
    };
    auto const begin = out.size();
    if (std::all_of(text.begin(), text.end(), is_plain)) {
        out.append(text.size() + 2, '"');
        text.copy(&out[begin + 1], text.size());
        return;
    }
    out += '"';
    for (char const one : text) {
        if (is_plain(one)) out += one;
        else detail::append_json_escape(out, one);
    }
    out += '"';
}

SETTLE_END
