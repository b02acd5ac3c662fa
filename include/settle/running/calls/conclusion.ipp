// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that conclusion.hpp declares.
#pragma once

#include <settle/running/calls/conclusion.hpp>

SETTLE_BEGIN
namespace detail {

/// Copies the reason of a cancel: from this worker, or from the entry if another worker canceled.
/// Shape:   own - the error behind this worker's own reason, or none
SETTLE_FUNCTION void copy_reason(outcome& concluded, job const& work,
                                 execution_state const& execution, error&& own, entry_reader read) {
    auto const& c = work.coordinator;
    auto const copy_from = [&](entry const& stored) {
        // The entry has the text of this worker's own error, but not its code.
        bool const is_own = c.why() == stored.why && (stored.why_text.empty() ||
                                                      stored.why_text == bounded_reason(own.text));
        concluded.why = stored.why;
        concluded.participant = stored.participant;
        concluded.line = stored.line;
        concluded.problem = is_own ? std::move(own) : cause_of(stored, *work.type);
    };
    if (execution.seen && execution.seen->why != reason::none) {
        copy_from(*execution.seen);
    } else if (c.why() != reason::none) {
        concluded.why = c.why();
        concluded.problem = std::move(own);
        if (c.failed_part() == coordinator::no_part) return;
        part_name const where = work.name_part(c.failed_part());
        concluded.participant = where.participant;
        concluded.line = where.line;
    } else if (auto found = read(concluded.id); found.has_value() && found.value()) {
        copy_from(*found.value());
    }
}

SETTLE_FUNCTION outcome conclude_rest(job& work, execution_state const& execution,
                                      entry_reader read) {
    auto const& c = work.coordinator;
    outcome concluded;
    concluded.id = std::move(work.id);
    concluded.problem = work.problem;
    if (execution.cut == interruption::mismatch)
        return refuse(concluded.id, id_in_use(concluded.id));
    if (execution.cut == interruption::unfit)
        return refuse(concluded.id, std::move(concluded.problem));
    if (execution.cut == interruption::redefined)
        return refuse(concluded.id, other_definition(*execution.seen));
    // After a finished run an earlier error is obsolete, or it is the cancel reason. Another owner
    // may have canceled for another reason, or committed.
    bool const ended = execution.cut == interruption::none;
    error own;
    if (auto const* const cause = work.cause(); ended && cause != nullptr) own = *cause;
    bool const is_answered = execution.cut == interruption::answered;
    if (ended || is_answered || execution.cut == interruption::elsewhere) concluded.problem = {};
    if (c.vanished()) concluded.problem = vanished_entry(concluded.id);
    // The commit was acknowledged, so only time has ended this call, or it was asked for no more.
    if ((is_answered || execution.cut == interruption::stopped) && c.state() == state::applied) {
        concluded.verdict = verdict::done;
        concluded.finished = false;
        concluded.results = std::move(work.results);
        return concluded;
    }
    if (execution.cut != interruption::none || c.vanished() || !is_final(c.state()))
        return concluded;
    concluded.verdict = c.state() == state::done ? verdict::done : verdict::canceled;
    concluded.results = std::move(work.results);
    if (concluded.canceled()) copy_reason(concluded, work, execution, std::move(own), read);
    return concluded;
}

} // namespace detail
SETTLE_END
