// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that row.hpp declares.
#pragma once

#include <settle/sqlite/row.hpp>

SETTLE_BEGIN
namespace sqlite::detail {

SETTLE_FUNCTION column_need const* table_need::find(std::string_view column) const {
    for (auto const& one : columns) {
        if (one.name == column) return &one;
    }
    return nullptr;
}

SETTLE_FUNCTION column_need const& table_need::key() const {
    std::size_t at = 0;
    while (!columns[at].key) ++at;
    return columns[at];
}

SETTLE_FUNCTION table_need need_of(collection_descriptor const& of) {
    table_need need{of.name, {}};
    for (std::size_t at = 0; at < of.members().size(); ++at) {
        auto const& one = of.members()[at];
        need.columns.push_back({one.name, one.access->kind, one.access->optional, at == of.key});
    }
    return need;
}

SETTLE_FUNCTION void bind_member(run& to, member_access const& access, void const* value) {
    as_column(
        access, value, [&](auto column) { to.bind(column); },
        [&](std::string const& json) { to.bind_copy(json); });
}

SETTLE_FUNCTION void give_member(cell to, member_access const& access, void const* value) {
    as_column(
        access, value, [&](auto column) { to.give(column); },
        [&](std::string const& json) { to.give_copy(json); });
}

SETTLE_FUNCTION std::string_view read_member(run const& from, int column,
                                             member_access const& access, void* value) {
    auto const type = from.type(column);
    if (access.optional && type == SQLITE_NULL) {
        access.set_null(value);
        return {};
    }
    if (access.kind != field_kind::text) {
        if (type != SQLITE_INTEGER) return type == SQLITE_NULL ? "is NULL" : "holds no integer";
        if (access.set_integer(value, from.integer(column))) return {};
        return "holds a number that is none of the field's values";
    }
    if (type != SQLITE_TEXT) return type == SQLITE_NULL ? "is NULL" : "holds no text";
    auto const text = from.text(column);
    if (access.nested) {
        error const problem =
            settle::detail::read_whole(*access.json, text, json_form::exact, value);
        return problem.empty() ? "" : "holds no JSON of its struct";
    }
    if (!is_utf8(text)) {
        return fault_of_text(text) == "holds a NUL" ? "holds a text with a NUL in it"
                                                    : "holds a text that is not UTF-8";
    }
    access.set_text(value, text);
    return {};
}

SETTLE_FUNCTION void read_record(collection_descriptor const& of, run const& from, int first,
                                 void* record) {
    for (std::size_t at = 0; at < of.members().size(); ++at) {
        auto const& one = of.members()[at];
        auto const column = first + static_cast<int>(at);
        auto const problem = read_member(from, column, *one.access, of.record->member(record, at));
        if (problem.empty()) continue;
        auto const key = from.text(first + static_cast<int>(of.key));
        std::string text{"settle: the row "};
        text.append(shown(key)).append(" of the table '").append(of.name);
        text.append("' is damaged: its column '").append(one.name).append("' ").append(problem);
        raise(errc::damaged, text.append(". Repair that row. See errors#damaged"));
    }
}

SETTLE_FUNCTION native_value read_native_column(run const& from, int column) {
    switch (from.type(column)) {
    case SQLITE_INTEGER: return from.integer(column);
    case SQLITE_FLOAT: return from.real(column);
    case SQLITE_TEXT: return std::string{from.text(column)};
    case SQLITE_BLOB: {
        auto const bytes = from.blob(column);
        auto const* const begin = reinterpret_cast<std::byte const*>(bytes.data());
        return settle::blob(begin, begin + bytes.size());
    }
    default: return std::monostate{};
    }
}

SETTLE_FUNCTION void bind_native(run& to, native_value const& value) {
    if (auto const boolean = std::get_if<bool>(&value)) to.bind(std::int64_t{*boolean});
    else if (auto const whole = std::get_if<std::int64_t>(&value)) to.bind(*whole);
    else if (auto const real = std::get_if<double>(&value)) to.bind_real(*real);
    else if (auto const text = std::get_if<std::string>(&value)) to.bind(std::string_view{*text});
    else if (auto const bytes = std::get_if<settle::blob>(&value)) {
        to.bind_blob({reinterpret_cast<char const*>(bytes->data()), bytes->size()});
    } else to.bind(nullptr);
}

} // namespace sqlite::detail
SETTLE_END
