// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that row.hpp declares.
#pragma once

#include <settle/sqlite/row.hpp>

#include <variant>

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

SETTLE_FUNCTION std::string shown(std::int64_t key) { return std::to_string(key); }

SETTLE_FUNCTION std::string shown(std::string_view key) {
    std::string text{"'"};
    return text.append(key).append("'");
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
