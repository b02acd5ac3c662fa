// SPDX-License-Identifier: BSL-1.0
// Refuses a log that is a copy or was moved: two engines would act for one log at its services.
#pragma once

#include <settle/store/seam.hpp>

#include <algorithm>
#include <string>
#include <string_view>
#include <tuple>

SETTLE_BEGIN
namespace detail {

/// Begins the kept home of a copy of which a part may be closed: no other answer is left.
inline constexpr std::string_view closing_home = "a copy that is being closed, and was at ";

[[nodiscard]] inline bool is_closing(log_home const& seen) {
    return seen.kept.starts_with(closing_home);
}

/// The kept home of a copy from then on. No store finds the parts of its homes in it.
[[nodiscard]] inline std::string begin_closing(log_home const& seen) {
    auto text = std::string{closing_home} + seen.kept;
    std::replace(text.begin(), text.end(), '=', ':');
    return text;
}

[[nodiscard]] inline error elsewhere(std::string const& log_name, log_home const& seen) {
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

/// Keeps the present home of a log that is at home.
/// Errors:  throws errc::other_home if the log is elsewhere
template <typename Log>
void check_home([[maybe_unused]] Log& log) {
    if constexpr (capabilities<Log>.keeps_home) {
        auto const seen = log.home().value();
        if (!seen.is_same) throw failure(elsewhere(log.name(), seen));
        if (seen.present.empty() || seen.present == seen.kept) return;
        // A program that may only read keeps no home; the next program that may write does.
        std::ignore = log.take_home(seen, false);
    }
}

} // namespace detail
SETTLE_END
