// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that image_codec.hpp declares.
#pragma once

#include <settle/adapter/image_codec.hpp>

SETTLE_BEGIN
namespace detail {

/// Opens the object of a part, as an element of a list.
inline void append_part(std::string& out, std::uint32_t participant, std::uint32_t line) {
    if (out.back() != '[') out += ',';
    out += "{\"participant\":";
    append_json_integer(out, participant);
    out += ",\"line\":";
    append_json_integer(out, line);
}

/// Shape:   read(reader, element) - reads an element; false when the reader failed
template <typename Element>
[[nodiscard]] result<std::vector<Element>> decode_list(std::string_view text,
                                                       bool (*read)(json_reader&, Element&)) {
    std::vector<Element> list;
    if (text.empty()) return list;
    json_reader reader{text};
    if (reader.begin_array()) {
        while (reader.next_element()) {
            if (!read(reader, list.emplace_back())) break;
        }
    }
    if (!reader.finish()) return reader.problem();
    return list;
}

SETTLE_FUNCTION void append_images(std::string& out, std::vector<image> const& images) {
    out += '[';
    for (image const& image : images) {
        append_part(out, image.participant, image.line);
        out.append(",\"before\":").append(image.before.empty() ? "null" : image.before);
        out.append(",\"after\":").append(image.after.empty() ? "null" : image.after);
        out += '}';
    }
    out += ']';
}

SETTLE_FUNCTION void append_results(std::string& out, std::vector<kept_result> const& results) {
    out += '[';
    for (kept_result const& result : results) {
        append_part(out, result.participant, result.line);
        if (!result.value.empty()) out.append(",\"value\":").append(result.value);
        if (result.closed) {
            out += ",\"closed\":";
            append_json_text(out, *result.closed);
        }
        out += '}';
    }
    out += ']';
}

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

SETTLE_FUNCTION bool read_image(json_reader& reader, image& into) {
    if (!reader.begin_object()) return false;
    for (std::string_view name; reader.next_member(name);) {
        if (name == "participant") read_json(reader, into.participant);
        else if (name == "line") read_json(reader, into.line);
        else if (name == "before") read_record_text(reader, into.before, copy_native);
        else if (name == "after") read_record_text(reader, into.after, copy_value);
        else reader.fail("an image has no such member");
    }
    return !reader.failed();
}

SETTLE_FUNCTION bool read_result(json_reader& reader, kept_result& into) {
    if (!reader.begin_object()) return false;
    for (std::string_view name; reader.next_member(name);) {
        if (name == "participant") read_json(reader, into.participant);
        else if (name == "line") read_json(reader, into.line);
        else if (name == "value") copy_value(reader, into.value);
        else if (name == "closed") read_json(reader, into.closed.emplace());
        else reader.fail("a result has no such member");
    }
    return !reader.failed();
}

SETTLE_FUNCTION result<std::vector<image>> decode_images(std::string_view text) {
    return decode_list<image>(text, read_image);
}
SETTLE_FUNCTION result<std::vector<kept_result>> decode_results(std::string_view text) {
    return decode_list<kept_result>(text, read_result);
}

} // namespace detail
SETTLE_END
