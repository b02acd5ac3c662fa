// SPDX-License-Identifier: BSL-1.0
// Names and texts inside of an SQL statement.
#pragma once

#include <settle/version.hpp>

#include <string>
#include <string_view>

SETTLE_BEGIN
namespace detail {

/// A text between two marks, in which each mark is doubled.
[[nodiscard]] inline std::string quoted(std::string_view text, char mark) {
    std::string sql{mark};
    for (char const one : text) {
        if (one == mark) sql += mark;
        sql += one;
    }
    return sql += mark;
}

/// A name as SQL takes it: `"accounts"`.
[[nodiscard]] inline std::string quoted_name(std::string_view name) { return quoted(name, '"'); }

/// A text literal: `'text'`. A backslash is a character like others.
[[nodiscard]] inline std::string quoted_text(std::string_view text) { return quoted(text, '\''); }

} // namespace detail
SETTLE_END
