// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that home.hpp declares.
#pragma once

#include <settle/running/construction/home.hpp>

SETTLE_BEGIN
namespace detail {

SETTLE_FUNCTION bool is_closing(log_home const& seen) {
    return seen.kept.starts_with(closing_home);
}

SETTLE_FUNCTION std::string begin_closing(log_home const& seen) {
    auto text = std::string{closing_home} + seen.kept;
    std::replace(text.begin(), text.end(), '=', ':');
    return text;
}

SETTLE_FUNCTION error elsewhere(std::string const& log_name, log_home const& seen) {
    if (is_closing(seen)) {
        return {make_error_code(errc::other_home), "settle: the log '" + log_name + "' is " +
                                                       seen.kept +
                                                       ". Call settle::close_copied_log again. "
                                                       "See copies#a-copy-beside-the-original"};
    }
    return {make_error_code(errc::other_home),
            "settle: the log '" + log_name + "' is a copy, or it was moved: it was at '" +
                seen.kept + "', and now it is at '" + seen.present +
                "'. If the original is gone, call settle::accept_moved_log; if the original stays, "
                "call settle::close_copied_log. See copies#two-answers"};
}

} // namespace detail
SETTLE_END
