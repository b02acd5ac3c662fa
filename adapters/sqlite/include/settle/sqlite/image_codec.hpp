// SPDX-License-Identifier: BSL-1.0
// The images of an entry as JSON in which the records are objects, and no texts within a text.
#pragma once

#include <settle/protocol/entry.hpp>
#include <settle/store/codec.hpp>
#include <settle/store/native_value.hpp>

SETTLE_BEGIN
namespace sqlite {

/// `[{"participant":0,"line":0,"before":{…},"after":{…}}]`; null where there was no record.
inline void append_images(std::string& out, std::vector<image> const& images) {
    out += '[';
    for (image const& one : images) {
        if (out.back() != '[') out += ',';
        out += "{\"participant\":";
        append_json_integer(out, one.participant);
        out += ",\"line\":";
        append_json_integer(out, one.line);
        out.append(",\"before\":").append(one.before.empty() ? "null" : one.before);
        out.append(",\"after\":").append(one.after.empty() ? "null" : one.after);
        out += '}';
    }
    out += ']';
}

namespace detail {

/// Reads an object of scalars back into its text, byte by byte as it was written.
inline void read_record_text(json_reader& reader, std::string& text) {
    text.clear();
    if (reader.peek() == json_kind::null) {
        reader.read_null();
        return;
    }
    if (!reader.begin_object()) return;
    text += '{';
    for (std::string_view name; reader.next_member(name);) {
        if (text.size() > 1) text += ',';
        append_json_text(text, name);
        text += ':';
        native_value value;
        if (!read_native(reader, value)) return;
        append_native(text, value);
    }
    text += '}';
}

inline bool read_image(json_reader& reader, image& one) {
    if (!reader.begin_object()) return false;
    for (std::string_view name; reader.next_member(name);) {
        if (name == "participant") read_json(reader, one.participant);
        else if (name == "line") read_json(reader, one.line);
        else if (name == "before") read_record_text(reader, one.before);
        else if (name == "after") read_record_text(reader, one.after);
        else reader.fail("an image has no such member");
    }
    return !reader.failed();
}

} // namespace detail

/// Errors:  errc::damaged with the place
[[nodiscard]] inline result<std::vector<image>> decode_images(std::string_view text) {
    std::vector<image> images;
    if (text.empty()) return images;
    json_reader reader{text};
    if (reader.begin_array()) {
        while (reader.next_element()) {
            if (!detail::read_image(reader, images.emplace_back())) break;
        }
    }
    if (!reader.finish()) return reader.problem();
    return images;
}

} // namespace sqlite
SETTLE_END
