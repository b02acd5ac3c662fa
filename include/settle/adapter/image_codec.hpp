// SPDX-License-Identifier: BSL-1.0
// The images and results of an entry as JSON in which records and values are JSON themselves, not
// quoted JSON texts.
#pragma once

#include <settle/base/native_value.hpp>
#include <settle/definition/codec.hpp>
#include <settle/protocol/entry.hpp>

SETTLE_BEGIN
namespace detail {

/// `[{"participant":0,"line":0,"before":{…},"after":{…}}]`; null if there was no record.
void append_images(std::string& out, std::vector<image> const& images);

/// `[{"participant":0,"line":0,"value":…}]`, without `value` if it is empty.
void append_results(std::string& out, std::vector<kept_result> const& results);

/// A scalar of a native row.
bool copy_native(json_reader& reader, std::string& to);

/// Reads an object and appends it in the form in which this library writes JSON. Text that the
/// library wrote stays the same; white space and other spellings of numbers and escapes do not.
/// Shape:   copy(reader, to) - appends the value of a member; false when the reader failed
template <typename Copy>
bool copy_object(json_reader& reader, std::string& to, Copy&& copy) {
    if (!reader.begin_object()) return false;
    to += '{';
    bool separate = false;
    for (std::string_view name; reader.next_member(name);) {
        if (std::exchange(separate, true)) to += ',';
        append_json_text(to, name);
        to += ':';
        if (!copy(reader, to)) return false;
    }
    to += '}';
    return !reader.failed();
}

/// A member of a described struct.
bool copy_value(json_reader& reader, std::string& to);

/// Reads a record back into its text; null if there was no record.
template <typename Copy>
void read_record_text(json_reader& reader, std::string& text, Copy&& copy) {
    text.clear();
    if (reader.peek() == json_kind::null) reader.read_null();
    else copy_object(reader, text, copy);
}

bool read_image(json_reader& reader, image& into);
bool read_result(json_reader& reader, kept_result& into);

/// Errors:  errc::damaged with the position
[[nodiscard]] result<std::vector<image>> decode_images(std::string_view text);
[[nodiscard]] result<std::vector<kept_result>> decode_results(std::string_view text);

} // namespace detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/adapter/image_codec.ipp>
#endif
