// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that image_codec.hpp declares.
#pragma once

#include <settle/sqlite/image_codec.hpp>

SETTLE_BEGIN
namespace sqlite {

SETTLE_FUNCTION void append_images(std::string& out, std::vector<image> const& images) {
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

} // namespace sqlite
namespace sqlite {
namespace detail {

SETTLE_FUNCTION bool copy_native(json_reader& reader, std::string& to) {
    native_value value;
    if (!read_native(reader, value)) return false;
    append_native(to, value);
    return true;
}

SETTLE_FUNCTION bool copy_value(json_reader& reader, std::string& to) {
    auto const kind = reader.peek();
    if (kind == json_kind::object) return copy_object(reader, to, copy_value);
    if (kind != json_kind::array) return copy_native(reader, to);
    if (!reader.begin_array()) return false;
    to += '[';
    bool separate = false;
    while (reader.next_element()) {
        if (std::exchange(separate, true)) to += ',';
        if (!copy_value(reader, to)) return false;
    }
    to += ']';
    return !reader.failed();
}

SETTLE_FUNCTION bool read_image(json_reader& reader, image& one) {
    if (!reader.begin_object()) return false;
    for (std::string_view name; reader.next_member(name);) {
        if (name == "participant") read_json(reader, one.participant);
        else if (name == "line") read_json(reader, one.line);
        else if (name == "before") read_record_text(reader, one.before, copy_native);
        else if (name == "after") read_record_text(reader, one.after, copy_value);
        else reader.fail("an image has no such member");
    }
    return !reader.failed();
}

} // namespace detail
} // namespace sqlite
namespace sqlite {

SETTLE_FUNCTION result<std::vector<image>> decode_images(std::string_view text) {
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
