// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that row_values.hpp declares.
#pragma once

#include <settle/adapter/row_values.hpp>
#include <settle/base/utf8.hpp>

SETTLE_BEGIN
namespace detail {

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

SETTLE_FUNCTION table_need need_of(collection_descriptor const& collection) {
    table_need need{collection.name, {}};
    for (std::size_t index = 0; index < collection.members().size(); ++index) {
        auto const& one = collection.members()[index];
        need.columns.push_back(
            {one.name, one.access->kind, one.access->optional, index == collection.key});
    }
    return need;
}

SETTLE_FUNCTION std::string_view set_text(member_access const& access, std::string_view text,
                                          void* value) {
    if (access.nested) {
        error const problem = read_whole(*access.json, text, json_form::exact, value);
        return problem.empty() ? "" : "holds no JSON of its struct";
    }
    if (!is_utf8(text)) {
        return fault_of_text(text) == "holds a NUL" ? "holds a text with a NUL in it"
                                                    : "holds a text that is not UTF-8";
    }
    access.set_text(value, text);
    return {};
}

SETTLE_FUNCTION error damaged_row(collection_descriptor const& collection, std::string_view key,
                                  std::string_view column, std::string_view problem) {
    std::string text{"settle: the row "};
    text.append(shown(key)).append(" of the table '").append(collection.name);
    text.append("' is damaged: its column '").append(column).append("' ").append(problem);
    return {make_error_code(errc::damaged), text.append(". Repair that row. See errors#damaged")};
}

SETTLE_FUNCTION void read_image(std::string_view image,
                                function_view<void(std::string&&, native_value&&)> take) {
    json_reader reader{image};
    if (reader.begin_object()) {
        for (std::string_view name; reader.next_member(name);) {
            std::string column{name};
            native_value value;
            if (!read_native(reader, value)) break;
            take(std::move(column), std::move(value));
        }
    }
    if (!reader.finish()) throw failure(reader.problem());
}

SETTLE_FUNCTION error column_is_gone(std::string_view column, std::string_view table,
                                     std::string_view page) {
    std::string text{"settle: the record's old image has a column '"};
    text.append(column).append("', and the table ").append(table);
    text.append(" has none. Add it again. See ").append(page).append("#existing-tables");
    return {make_error_code(errc::unfit_store), std::move(text)};
}

} // namespace detail
SETTLE_END
