// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that codec.hpp declares.
#pragma once

#include <settle/definition/codec.hpp>

SETTLE_BEGIN

namespace detail {

SETTLE_FUNCTION void write_members(std::string& out, member_codec const* members,
                                   void const* const* pointers, secrets shown) {
    out += '{';
    for (std::size_t index = 0; members[index].codec != nullptr; ++index) {
        if (index > 0) out += ',';
        append_json_text(out, members[index].name);
        out += ':';
        // An empty value is hidden, too.
        if (members[index].is_secret && shown == secrets::hidden) out += "\"***\"";
        else members[index].codec->write(out, pointers[index], shown);
    }
    out += '}';
}

SETTLE_FUNCTION bool same_members(member_codec const* members, void const* const* left,
                                  void const* const* right) {
    for (std::size_t at = 0; members[at].codec != nullptr; ++at) {
        if (!members[at].codec->same(left[at], right[at])) return false;
    }
    return true;
}

/// Puts a name before the path of something inside of it.
[[gnu::cold]] SETTLE_FUNCTION void name_before(std::string& path, std::string_view name) {
    if (!path.empty() && path.front() != '[') path.insert(0, 1, '.');
    path.insert(0, name);
}
SETTLE_FUNCTION void index_before(std::string& path, std::size_t index) {
    name_before(path, "[" + std::to_string(index) + "]");
}

SETTLE_FUNCTION std::string_view find_bad_member(member_codec const* members,
                                                 void const* const* pointers, std::string& path) {
    for (std::size_t at = 0; members[at].codec != nullptr; ++at) {
        auto const found = find_bad_text(*members[at].codec, pointers[at], path);
        if (!found.empty()) return name_before(path, members[at].name), found;
    }
    return {};
}

SETTLE_FUNCTION result<void> check_each_text(value_codec const& codec, void const* value) {
    std::string path;
    std::string_view const fault = find_bad_text(codec, value, path);
    if (fault.empty()) return {};
    if (!path.empty()) path = "'" + path + "': ";
    return {errc::bad_text, "settle: " + path + "the text " + std::string{fault} +
                                "; nothing was written. Give it as UTF-8 without a NUL. "
                                "See definition#field-types"};
}

SETTLE_FUNCTION bool read_members(json_reader& reader, member_codec const* members,
                                  void* const* pointers, bool* seen, json_form form) {
    if (!reader.begin_object()) return false;
    auto const begun = reader.offset();
    for (std::string_view name; reader.next_member(name);) {
        std::size_t index = 0;
        while (members[index].codec != nullptr && members[index].name != name) ++index;
        if (members[index].codec != nullptr) {
            seen[index] = true;
            if (!members[index].codec->read(reader, pointers[index], form)) return false;
        } else if (form == json_form::exact) {
            return reader.fail("the struct has no such member");
        } else if (!reader.skip_value()) {
            return false;
        }
    }
    for (std::size_t position = 0; members[position].codec != nullptr; ++position) {
        if (seen[position]) continue;
        auto* const clear = members[position].codec->clear;
        if (clear != nullptr) clear(pointers[position]);
        if (clear != nullptr && form != json_form::exact) continue;
        reader.fail("the member " + std::string{members[position].name} + " is missing", begun);
    }
    return !reader.failed();
}

SETTLE_FUNCTION error read_whole(value_codec const& codec, std::string_view text, json_form form,
                                 void* value) {
    json_reader reader{text};
    if (codec.read(reader, value, form) && reader.finish()) return {};
    return reader.problem();
}

SETTLE_FUNCTION bool read_nested_text(json_reader& reader, value_codec const& codec, void* value) {
    std::string text;
    if (!reader.read_text(text)) return false;
    if (read_whole(codec, text, json_form::exact, value).empty()) return true;
    return reader.fail("the text is no JSON of the type");
}

} // namespace detail

SETTLE_END
