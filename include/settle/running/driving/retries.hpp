// SPDX-License-Identifier: BSL-1.0
// How often and how soon a job repeats a step.
#pragma once

#include <settle/running/construction/options.hpp>
#include <settle/running/driving/execution_state.hpp>
#include <settle/running/driving/job.hpp>

#include <algorithm>

SETTLE_BEGIN
namespace detail {

/// `from` plus `wait`, or the last point in time if "for ever" would overflow nanoseconds.
[[nodiscard]] inline std::chrono::nanoseconds later_than(std::chrono::nanoseconds from,
                                                         std::chrono::milliseconds wait) {
    using std::chrono::nanoseconds;
    auto const room =
        std::chrono::duration_cast<std::chrono::milliseconds>(nanoseconds::max() - from);
    if (wait >= room) return nanoseconds::max();
    return from + std::max(wait, std::chrono::milliseconds{0});
}

/// The limits of a call from now on. Its deadline stays above 0, since the call has begun.
/// Shape:   end - of the call's deadline, if it has one
[[nodiscard]] inline call_options rest_of(call_options const& call,
                                          std::optional<std::chrono::nanoseconds> const& end,
                                          std::chrono::nanoseconds now) {
    using std::chrono::milliseconds;
    call_options rest{{}, call.stop};
    if (end) {
        rest.deadline = std::max(std::chrono::floor<milliseconds>(*end - now), milliseconds{1});
    }
    return rest;
}

/// True if the step sends a write to the log.
[[nodiscard]] constexpr bool writes_log(step taken) {
    return taken == step::insert || taken == step::claim || taken == step::keep || commits(taken) ||
           taken == step::close || taken == step::cancel || taken == step::one_phase;
}

/// True if a step would fail again for the same reason. A write of unknown outcome may have
/// taken effect, so the entry is read before the write counts as failed.
[[nodiscard]] inline bool fails_always(step taken, job const& work, execution_state& execution,
                                       bool hopeless) {
    if (work.problem.code != condition::permanent) return false;
    if (!writes_log(taken)) return hopeless;
    if (work.reply == log_answer::unknown) return std::exchange(execution.failed_unsure, true);
    return took_no_effect(work.reply);
}

/// A call that may not be made again, and the reason of the cancel.
struct exhausted_call {
    std::size_t part = coordinator::no_part;
    reason why = reason::none;
};

/// The call of the current stage that failed and has no attempt left.
/// Shape:   tries - the waves of this stage so far; attempts - options::call_attempts
[[nodiscard]] inline exhausted_call find_exhausted(job const& work, std::uint32_t tries,
                                                   std::uint32_t attempts) {
    auto const& c = work.coordinator;
    exhausted_call exhausted;
    work.type->for_each_part(
        work.parameters, [&](part_descriptor const& descriptor, std::size_t, std::size_t part) {
            answer const reply = c.answer_of(part);
            bool const failed = reply == answer::unavailable || reply == answer::unknown;
            std::uint32_t const most =
                descriptor.retries.attempts != 0 ? descriptor.retries.attempts : attempts;
            if (descriptor.stage != c.stage() || !failed || tries < most) return;
            exhausted = {part, reply == answer::unknown ? reason::unanswered : reason::unavailable};
        });
    return exhausted;
}

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
[[nodiscard]] inline pauses pauses_of(job const& work, options const& limits) {
    auto const& c = work.coordinator;
    pauses chosen{limits.first_pause, limits.longest_pause};
    if (c.stages() == 1 || c.stage() == 0) return chosen;
    chosen = {limits.call_first_pause, limits.call_longest_pause};
    for (part_descriptor const& part : work.type->participants) {
        if (part.stage != c.stage()) continue;
        if (part.retries.first_pause.count() != 0) chosen.first = part.retries.first_pause;
        if (part.retries.longest_pause.count() != 0) chosen.longest = part.retries.longest_pause;
    }
    return chosen;
}

} // namespace detail
SETTLE_END
