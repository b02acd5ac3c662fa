// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that ids.hpp declares.
#pragma once

#include <settle/running/calls/ids.hpp>

SETTLE_BEGIN

SETTLE_FUNCTION std::string reversal_id(std::string const& id, std::uint32_t attempt) {
    std::string made = id + "/reverse";
    if (attempt > 1) made += '/' + std::to_string(attempt);
    return made;
}

SETTLE_FUNCTION bool is_reversal_id(std::string_view id) {
    if (id.find('/') == std::string_view::npos) return false;
    std::size_t digits = 0;
    while (digits < id.size() && id[id.size() - digits - 1] >= '0' &&
           id[id.size() - digits - 1] <= '9') {
        ++digits;
    }
    std::string_view const before = id.substr(0, id.size() - digits);
    bool const numbered = digits != 0 && before.ends_with('/');
    return (numbered ? before.substr(0, before.size() - 1) : id).ends_with("/reverse");
}

SETTLE_FUNCTION std::string_view fault_of_id(std::string_view id) {
    if (id.empty()) return "an id is empty";
    if (id.size() > longest_id) return "an id is longer than 200 bytes";
    if (!is_utf8(id)) {
        return fault_of_text(id) == "holds a NUL" ? "an id holds a NUL" : "an id is not UTF-8";
    }
    if (is_reversal_id(id)) {
        return "ids that end in /reverse or /reverse/<number> are the library's own";
    }
    return {};
}

SETTLE_FUNCTION error check_id(std::string_view id) {
    auto const problem = fault_of_id(id);
    if (problem.empty()) return {};
    return {make_error_code(errc::bad_text),
            "settle: " + std::string{problem} + ". Use another id. See running#ids"};
}

SETTLE_FUNCTION error long_id(std::string_view target, std::size_t longest) {
    return {make_error_code(errc::bad_text),
            "settle: an id is longer than the " + std::to_string(longest) +
                " bytes that fit into a name of '" + std::string{target} +
                "'. Use another id. See running#ids"};
}
SETTLE_END
