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

[[nodiscard]] bool is_closing(log_home const& seen);

/// The kept home of a copy from then on. No store finds the parts of its homes in it.
[[nodiscard]] std::string begin_closing(log_home const& seen);

[[nodiscard]] error elsewhere(std::string const& log_name, log_home const& seen);

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

#ifndef SETTLE_COMPILED
#include <settle/running/construction/home.ipp>
#endif
