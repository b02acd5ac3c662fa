// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that table_values.hpp declares.
#pragma once

#include <settle/adapter/sql/table_values.hpp>

SETTLE_BEGIN
namespace detail::sql {

[[nodiscard]] SETTLE_FUNCTION bool is_uuid_text(std::string_view text) {
    if (text.size() != 36) return false;
    for (std::size_t index = 0; index < text.size(); ++index) {
        bool const dash = index == 8 || index == 13 || index == 18 || index == 23;
        char const one = text[index];
        bool const digit = (one >= '0' && one <= '9') || (one >= 'a' && one <= 'f');
        if (dash ? one != '-' : !digit) return false;
    }
    return true;
}

SETTLE_FUNCTION bool column_limits::is_limited(member_descriptor const& member) const {
    if (member.access->kind == field_kind::boolean) return false;
    if (length >= 0 || is_uuid || !labels.empty()) return true;
    if (member.integer != member_descriptor::no_integer)
        return member.least < least || member.most > most;
    return least != std::numeric_limits<std::int64_t>::min() ||
           most != std::numeric_limits<std::int64_t>::max();
}

SETTLE_FUNCTION bool column_limits::holds_text(std::string_view text) const {
    if (is_uuid) return is_uuid_text(text);
    if (!labels.empty()) return std::find(labels.begin(), labels.end(), text) != labels.end();
    if (length < 0) return true;
    auto const characters = std::count_if(text.begin(), text.end(), [](char character) {
        return (static_cast<unsigned char>(character) & 0xC0U) != 0x80U;
    });
    return characters <= length;
}

SETTLE_FUNCTION bool column_limits::holds(member_access const& access, void const* value) const {
    if (access.optional && access.is_null(value)) return true;
    if (access.nested) return true;
    if (access.kind == field_kind::text) return holds_text(access.text(value));
    auto const number = access.integer(value);
    return number >= least && number <= most;
}

SETTLE_FUNCTION other_values read_others(record_descriptor const& descriptor,
                                         std::vector<other_column> const& columns,
                                         std::string_view image, std::string_view table,
                                         std::string_view page) {
    other_values values;
    read_image(image, [&](std::string const& name, native_value value) {
        if (descriptor.find(name)) return;
        auto const known = std::find_if(columns.begin(), columns.end(),
                                        [&](auto const& column) { return column.name == name; });
        if (known == columns.end()) throw failure(column_is_gone(name, table, page));
        auto* const text = std::get_if<std::string>(&value);
        values.emplace_back(&*known,
                            text == nullptr ? std::nullopt : std::optional{std::move(*text)});
    });
    return values;
}

SETTLE_FUNCTION std::string image_of_row(record_descriptor const& descriptor, void* record,
                                         std::string_view others) {
    std::string out;
    for (std::size_t index = 0; index < descriptor.members.size(); ++index) {
        auto const& member = descriptor.members[index];
        begin_member(out, member.name);
        std::string value;
        member.access->json->write(value, descriptor.member(record, index), secrets::written);
        // A struct or a list is the text of its JSON, as any value of a native row is a scalar.
        if (member.access->nested) append_json_text(out, value);
        else out += value;
    }
    if (others.size() > 2) out.append(",").append(others.substr(1));
    else out += '}';
    return out;
}

} // namespace detail::sql
SETTLE_END
