// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that retries.hpp declares.
#pragma once

#include <settle/running/driving/call_pauses.hpp>
#include <settle/running/driving/retries.hpp>

SETTLE_BEGIN
namespace detail {

SETTLE_FUNCTION bool fails_always(step taken, job const& work, execution_state& execution,
                                  bool hopeless) {
    if (work.problem.code != condition::permanent) return false;
    if (!writes_log(taken)) return hopeless;
    if (work.reply == log_answer::unknown) return std::exchange(execution.failed_unsure, true);
    return took_no_effect(work.reply);
}

SETTLE_FUNCTION exhausted_call count_tries(step taken, job& work, std::uint32_t attempts) {
    auto const& c = work.coordinator;
    if (std::exchange(work.was_tried, false) && c.stage() != 0) {
        work.call_tries = work.failing.tries();
        work.notes_tries = true;
    }
    exhausted_call exhausted;
    if (!work.notes_tries || taken != step::apply) return exhausted;
    work.type->for_each_part(
        work.parameters, [&](part_descriptor const& descriptor, std::size_t, std::size_t part) {
            std::uint32_t const most =
                descriptor.retries.attempts != 0 ? descriptor.retries.attempts : attempts;
            bool const is_first = exhausted.why == reason::none;
            if (!is_first || !work.failing.has_failed(part, most)) return;
            bool const is_unknown = c.answer_of(part) == answer::unknown;
            exhausted = {part, is_unknown ? reason::unanswered : reason::unavailable};
        });
    return exhausted;
}

/// The pauses of the parts that the job sends next.
[[nodiscard]] inline pauses pauses_of(job const& work, options const& limits) {
    bool const are_calls = calls_next(work);
    pauses chosen = pauses_of(are_calls, limits);
    for (part_descriptor const& part : work.type->participants) {
        if (are_calls && part.stage == work.coordinator.stage()) chosen.choose(part);
    }
    return chosen;
}

SETTLE_FUNCTION job_pause pause_of(job& work, std::uint32_t rests, options const& limits,
                                   std::chrono::nanoseconds elapsed, std::uint64_t random) {
    using std::chrono::nanoseconds;
    nanoseconds const asked = std::chrono::milliseconds{std::exchange(work.retry_after_ms, 0U)};
    bool const looks = std::exchange(work.is_paused, false) && !work.notes_tries;
    if (ends_parts(work.coordinator.next()) && !work.failing.empty()) {
        auto const ends =
            work.failing.withhold(*work.type, work.parameters, limits, elapsed, random);
        return {std::max(ends.first - elapsed, nanoseconds{0}), ends.last - elapsed};
    }
    auto const earlier = work.notes_tries ? std::max(work.call_tries, 1U) - 1 : rests;
    auto const grown = pauses_of(work, limits).after(earlier, random);
    nanoseconds const pause = looks ? call_pauses::look_every : std::max(grown, asked);
    return {pause, pause};
}

} // namespace detail
SETTLE_END
