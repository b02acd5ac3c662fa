// SPDX-License-Identifier: BSL-1.0
// How often and how soon a job repeats a step.
#pragma once

#include <settle/running/construction/options.hpp>
#include <settle/running/driving/deadlines.hpp>
#include <settle/running/driving/execution_state.hpp>
#include <settle/running/driving/job.hpp>
#include <settle/running/driving/pauses.hpp>

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

/// Counts the tries of a wave, before the coordinator decides it.
/// Shape:   attempts - options::call_attempts
/// Returns: the call of the current stage that failed and has no attempt left
[[nodiscard]] exhausted_call count_tries(step taken, job& work, std::uint32_t attempts);

struct job_pause {
    std::chrono::nanoseconds own; ///< the job rests so long
    std::chrono::nanoseconds all; ///< until it sends each of its parts
};

/// The pause before a job repeats its step.
/// Shape:   rests - the job's earlier pauses; elapsed - the time
[[nodiscard]] job_pause pause_of(job& work, std::uint32_t rests, options const& limits,
                                 std::chrono::nanoseconds elapsed, std::uint64_t random);

} // namespace detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/running/driving/retries.ipp>
#endif
