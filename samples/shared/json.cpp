// SPDX-License-Identifier: BSL-1.0
// Writes JSON values, and lays their text out.
#include "json.hpp"

#include <settle/base/json_reader.hpp>
#include <settle/base/json_writer.hpp>

#include <unicode/utf16.h>
#include <unicode/utf8.h>

#include <cstdint>
#include <iterator>

namespace samples {

namespace {

/// Appends the character at a position as an escape, and goes past it. A byte of no character
/// becomes the replacement character.
void append_escape(std::string& out, std::string_view text, std::size_t& position) {
    auto const* const bytes = reinterpret_cast<std::uint8_t const*>(text.data());
    UChar32 character = 0;
    U8_NEXT_OR_FFFD(bytes, position, text.size(), character);
    auto const append = [&](UChar32 unit) {
        fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<std::uint32_t>(unit));
    };
    if (U_IS_BMP(character)) {
        append(character);
    } else {
        append(U16_LEAD(character));
        append(U16_TRAIL(character));
    }
}

/// Appends what stands between two quotes, with the second quote.
void append_quoted(std::string& out, std::string_view json, std::size_t& position) {
    constexpr char last_plain = '~';
    while (true) {
        char const one = json[position];
        if (one < ' ' || one > last_plain) {
            append_escape(out, json, position);
            continue;
        }
        out += one;
        ++position;
        if (one == '"') return;
        if (one == '\\') out += json[position++];
    }
}

} // namespace

json_value json_value::list(std::vector<json_value> const& elements) {
    json_value made;
    made.content_ = '[';
    for (auto const& each : elements) {
        if (made.content_.size() > 1) made.content_ += ',';
        each.append_to(made.content_);
    }
    made.content_ += ']';
    return made;
}

json_value json_value::object(members const& all) {
    json_value made;
    made.content_ = '{';
    for (auto const& [name, value] : all) {
        if (made.content_.size() > 1) made.content_ += ',';
        settle::append_json_text(made.content_, name);
        made.content_ += ':';
        value.append_to(made.content_);
    }
    made.content_ += '}';
    return made;
}

json_value json_value::parsed(std::string_view text) {
    if (text.empty()) return {};
    settle::json_reader reader{text};
    if (!reader.skip_value() || !reader.finish()) return text;
    json_value made;
    made.content_ = text;
    return made;
}

std::string json_value::to_ascii(int indent) const {
    std::string json;
    append_to(json);
    std::string out;
    int depth = 0;
    bool opened = false; // the last sign began a list or an object
    auto const new_line = [&] {
        if (indent < 0) return;
        out += '\n';
        out.append(static_cast<std::size_t>(depth * indent), ' ');
    };
    for (std::size_t at = 0; at < json.size();) {
        char const one = json[at++];
        if (one == ' ' || one == '\n' || one == '\r' || one == '\t') continue;
        bool const closes = one == '}' || one == ']';
        if (closes) --depth;
        // An empty list stays on its line.
        if (opened != closes) new_line();
        out += one;
        opened = one == '{' || one == '[';
        if (opened) ++depth;
        else if (one == '"') append_quoted(out, json, at);
        else if (one == ',') new_line();
        else if (one == ':' && indent >= 0) out += ' ';
    }
    return out;
}

void json_value::append_to(std::string& out) const {
    if (is_text_) settle::append_json_text(out, content_);
    else out += content_;
}

} // namespace samples
