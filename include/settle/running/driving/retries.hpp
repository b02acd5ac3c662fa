// SPDX-License-Identifier: BSL-1.0
// How often and how soon a job repeats a step.
#pragma once

#include <settle/running/construction/options.hpp>
#include <settle/running/driving/deadlines.hpp>
#include <settle/running/driving/execution_state.hpp>
#include <settle/running/driving/job.hpp>

#include <algorithm>

SETTLE_BEGIN
namespace detail {

/// True if the step sends a write to the log.
[[nodiscard]] constexpr bool writes_log(step taken) {
    return only_inserts(taken) || taken == step::claim || taken == step::keep || commits(taken) ||
           taken == step::close || taken == step::cancel || taken == step::one_phase;
}

/// True if a step would fail again for the same reason. A write of unknown outcome may have
/// taken effect, so the entry is read before the write counts as failed.
[[nodiscard]] bool fails_always(step taken, job const& work, execution_state& execution,
                                bool hopeless);

/// A call that may not be made again, and the reason of the cancel.
struct exhausted_call {
    std::size_t part = coordinator::no_part;
    reason why = reason::none;
};

/// The call of the current stage that failed and has no attempt left.
/// Shape:   attempts - options::call_attempts
[[nodiscard]] exhausted_call find_exhausted(job const& work, std::uint32_t attempts);

/// The pauses before a step is repeated.
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
};

/// The pauses of the parts that the job sends next.
[[nodiscard]] pauses pauses_of(job const& work, options const& limits);

} // namespace detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/running/driving/retries.ipp>
#endif
