// SPDX-License-Identifier: BSL-1.0
// The pauses before a step is repeated.
#pragma once

#include <settle/running/construction/options.hpp>
#include <settle/store/descriptor.hpp>

#include <algorithm>

SETTLE_BEGIN
namespace detail {

struct pauses {
    std::chrono::microseconds first;
    std::chrono::microseconds longest;

    /// The pause doubles each time. Half of it is random, so that two workers in conflict do not
    /// retry at the same moment.
    [[nodiscard]] std::chrono::nanoseconds after(std::uint32_t earlier,
                                                 std::uint64_t random) const {
        using std::chrono::microseconds;
        // At most an hour, which can be doubled and counted in nanoseconds.
        auto const most = std::min<microseconds>(longest, std::chrono::hours{1});
        auto const doubled = std::min(first, most) * (std::int64_t{1} << std::min(earlier, 20U));
        std::chrono::nanoseconds const chosen = std::min(doubled, most);
        auto const half = static_cast<std::uint64_t>(chosen.count()) / 2 + 1;
        return std::chrono::nanoseconds{static_cast<std::int64_t>(half + random % half)};
    }
    /// Takes the pauses of a participant, if it has any of its own.
    void choose(part_descriptor const& part) {
        if (part.retries.first_pause.count() != 0) first = part.retries.first_pause;
        if (part.retries.longest_pause.count() != 0) longest = part.retries.longest_pause;
    }
};

/// The pauses of the calls of services, or of everything else.
[[nodiscard]] inline pauses pauses_of(bool are_calls, options const& limits) {
    if (are_calls) return {limits.call_first_pause, limits.call_longest_pause};
    return {limits.first_pause, limits.longest_pause};
}

} // namespace detail
SETTLE_END
