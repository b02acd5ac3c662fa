// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that retries.hpp declares.
#pragma once

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

SETTLE_FUNCTION exhausted_call find_exhausted(job const& work, std::uint32_t attempts) {
    auto const& c = work.coordinator;
    exhausted_call exhausted;
    work.type->for_each_part(
        work.parameters, [&](part_descriptor const& descriptor, std::size_t, std::size_t part) {
            answer const reply = c.answer_of(part);
            bool const failed = reply == answer::unavailable || reply == answer::unknown;
            std::uint32_t const most =
                descriptor.retries.attempts != 0 ? descriptor.retries.attempts : attempts;
            if (descriptor.stage != c.stage() || !failed || work.call_tries < most) return;
            exhausted = {part, reply == answer::unknown ? reason::unanswered : reason::unavailable};
        });
    return exhausted;
}

SETTLE_FUNCTION pauses pauses_of(job const& work, options const& limits) {
    auto const& c = work.coordinator;
    pauses chosen{limits.first_pause, limits.longest_pause};
    if (!calls_next(work)) return chosen;
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
