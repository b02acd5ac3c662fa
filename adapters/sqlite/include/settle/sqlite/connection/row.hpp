// SPDX-License-Identifier: BSL-1.0
// A record as the columns of a row: how each is bound, given and read.
#pragma once

#include <settle/adapter/row_values.hpp>
#include <settle/base/native_value.hpp>
#include <settle/sqlite/connection/wave_rows.hpp>

SETTLE_BEGIN
namespace sqlite::detail {

using settle::detail::collection_descriptor;
using settle::detail::column_need;
using settle::detail::limit_of;
using settle::detail::member_access;
using settle::detail::need_of;
using settle::detail::read_field;
using settle::detail::record_descriptor;
using settle::detail::shown;
using settle::detail::table_need;

inline run& bind_key(run& to, part_key const& key) {
    std::visit([&](auto const& value) { to.bind(value); }, key);
    return to;
}
inline void give_key(cell to, part_key const& key) {
    std::visit([&](auto const& value) { to.give(value); }, key);
}
/// How a key compares with a column.
[[nodiscard]] inline int compare_key(columns row, part_key const& key, std::size_t column) {
    return std::visit([&](auto const& value) { return row.compare(value, column); }, key);
}

/// Calls `give` with the value of a column: an integer, a text or nothing; or `give_copy` with a
/// text that is valid during the call only.
template <typename Give, typename GiveCopy>
void as_column(member_access const& access, void const* value, Give&& give, GiveCopy&& give_copy) {
    if (access.optional && access.is_null(value)) {
        give(nullptr);
    } else if (access.nested) {
        std::string json;
        access.json->write(json, value, secrets::written);
        give_copy(json);
    } else if (access.kind == field_kind::text) {
        give(access.text(value));
    } else {
        give(access.integer(value));
    }
}

void bind_member(run& to, member_access const& access, void const* value);
void give_member(cell to, member_access const& access, void const* value);
template <typename T>
void bind_field(run& to, T const& value) {
    bind_member(to, settle::detail::access_to<T>, &value);
}

/// Reads a record whose members are the columns from `first` on, in the order of the description.
/// Errors:  throws errc::damaged, naming record and column
void read_record(collection_descriptor const& collection, run const& from, int first, void* record);

/// A value of any column.
[[nodiscard]] native_value read_native_column(run const& from, int column);

void bind_native(run& to, native_value const& value);

} // namespace sqlite::detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/sqlite/connection/row.ipp>
#endif
