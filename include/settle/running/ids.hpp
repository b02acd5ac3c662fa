// SPDX-License-Identifier: BSL-1.0
// Which ids a user may give, and how the id of a reversal is made.
#pragma once

#include <settle/store/error.hpp>
#include <settle/store/utf8.hpp>

#include <cstdint>
#include <string>
#include <string_view>

SETTLE_BEGIN

inline constexpr std::size_t longest_id = 200;

/// `<id>/reverse`, then `<id>/reverse/2` and so on.
[[nodiscard]] inline std::string reversal_id(std::string const& id, std::uint32_t attempt) {
    std::string made = id + "/reverse";
    if (attempt > 1) made += '/' + std::to_string(attempt);
    return made;
}

[[nodiscard]] inline bool is_reversal_id(std::string_view id) {
    std::size_t const digits = id.find_last_not_of("0123456789");
    bool const numbered = digits != std::string_view::npos && digits + 1 < id.size() &&
                          id[digits] == '/';
    return (numbered ? id.substr(0, digits) : id).ends_with("/reverse");
}

/// Errors:  errc::bad_text with what is wrong, or none
[[nodiscard]] inline error check_id(std::string_view id) {
    std::string_view problem;
    if (id.empty()) problem = "an id is empty";
    else if (id.size() > longest_id) problem = "an id is longer than 200 bytes";
    else if (!is_utf8(id)) problem = "an id is not UTF-8, or holds a NUL";
    else if (is_reversal_id(id)) problem = "ids that end in /reverse are the library's own";
    if (problem.empty()) return {};
    return {make_error_code(errc::bad_text),
            "settle: " + std::string{problem} + ". Use another id. README#ids"};
}

SETTLE_END
