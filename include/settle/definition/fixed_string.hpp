// SPDX-License-Identifier: BSL-1.0
// Text that can be a template argument: the names of transactions, participants and collections.
#pragma once

#include <settle/version.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

SETTLE_BEGIN

/// A string literal as a value of a structural type.
template <std::size_t Size>
struct fixed_string {
    char text[Size]{};

    consteval fixed_string(char const (&literal)[Size]) { std::copy_n(literal, Size, text); }
    /// Shape:   name - of `Size - 1` bytes
    consteval explicit fixed_string(std::string_view name) {
        std::copy_n(name.data(), Size - 1, text);
    }

    [[nodiscard]] constexpr std::string_view view() const { return {text, Size - 1}; }

    friend constexpr bool operator==(fixed_string const&, fixed_string const&) = default;
};

/// True for 1 to 48 letters, digits and `_` that begin with a letter: no store has to quote such a
/// name.
[[nodiscard]] constexpr bool is_plain_name(std::string_view name) {
    auto const letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
    auto const digit = [](char c) { return c >= '0' && c <= '9'; };
    if (name.empty() || name.size() > 48 || !letter(name.front())) return false;
    return std::all_of(name.begin(), name.end(),
                       [&](char c) { return letter(c) || digit(c) || c == '_'; });
}

namespace detail {

/// Compares names without regard to upper and lower case, as SQL does.
struct same_name {
    constexpr bool operator()(std::string_view left, std::string_view right) const {
        return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                          [](char a, char b) { return lower(a) == lower(b); });
    }

private:
    static constexpr char lower(char c) {
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    }
};

template <std::size_t Count, typename Same = same_name>
constexpr bool all_different(std::array<std::string_view, Count> const& names, Same same = {}) {
    for (std::size_t i = 0; i < Count; ++i) {
        for (std::size_t j = 0; j < i; ++j) {
            if (same(names[i], names[j])) return false;
        }
    }
    return true;
}

} // namespace detail
SETTLE_END
