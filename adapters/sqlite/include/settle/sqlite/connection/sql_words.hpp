// SPDX-License-Identifier: BSL-1.0
// Finds bare words (keywords and plain names) in an SQL text, outside of quoted texts and comments.
#pragma once

#include <settle/version.hpp>

#include <algorithm>
#include <cstddef>
#include <string_view>

SETTLE_BEGIN
namespace sqlite::detail {

[[nodiscard]] constexpr bool is_word_character(char character) noexcept {
    // Bytes of other scripts belong to words, as in SQLite.
    return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') ||
           (character >= '0' && character <= '9') || character == '_' || character == '$' ||
           static_cast<unsigned char>(character) >= 0x80;
}

[[nodiscard]] constexpr char upper(char character) noexcept {
    return character >= 'a' && character <= 'z' ? static_cast<char>(character - 'a' + 'A')
                                                : character;
}

[[nodiscard]] constexpr bool same_word(std::string_view left, std::string_view right) noexcept {
    return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                      [](char a, char b) { return upper(a) == upper(b); });
}

/// The position after a quoted text or a comment that begins at `at`; else `at`.
[[nodiscard]] constexpr std::size_t end_of_quoted(std::string_view sql,
                                                  std::size_t index) noexcept {
    auto const after = [&](std::string_view close, std::size_t from) {
        auto const end = sql.find(close, from);
        return end == std::string_view::npos ? sql.size() : end + close.size();
    };
    char const first = sql[index];
    // A doubled quote inside is the end of one text and the beginning of the next.
    if (first == '\'' || first == '"' || first == '`')
        return after(sql.substr(index, 1), index + 1);
    if (first == '[') return after("]", index + 1);
    if (sql.substr(index, 2) == "--") return after("\n", index + 2);
    if (sql.substr(index, 2) == "/*") return after("*/", index + 2);
    return index;
}

/// True if an SQL text has a bare word, in any case.
[[nodiscard]] constexpr bool has_word(std::string_view sql, std::string_view word) noexcept {
    for (std::size_t index = 0; index < sql.size();) {
        if (auto const end = end_of_quoted(sql, index); end != index) {
            index = end;
            continue;
        }
        std::size_t end = index;
        while (end < sql.size() && is_word_character(sql[end])) ++end;
        if (end == index) {
            ++index;
            continue;
        }
        if (same_word(sql.substr(index, end - index), word)) return true;
        index = end;
    }
    return false;
}

} // namespace sqlite::detail
SETTLE_END
