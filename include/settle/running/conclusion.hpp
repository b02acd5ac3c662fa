// SPDX-License-Identifier: BSL-1.0
// Makes the outcome of a job after the driver has finished with it.
#pragma once

#include <settle/running/progress.hpp>
#include <settle/running/refusals.hpp>

SETTLE_BEGIN
namespace detail {

/// Copies the reason of a cancel: from this worker, or from the entry if another worker canceled.
template <typename Log>
void copy_reason(outcome& concluded, job const& work, execution_state const& execution, Log& log) {
    auto const& c = work.coordinator;
    if (execution.seen && execution.seen->why != reason::none) {
        concluded.why = execution.seen->why;
        concluded.participant = execution.seen->participant;
        concluded.line = execution.seen->line;
    } else if (c.why() != reason::none) {
        concluded.why = c.why();
        if (c.failed_part() == coordinator::no_part) return;
        part_name const where = work.name_part(c.failed_part());
        concluded.participant = where.participant;
        concluded.line = where.line;
    } else if (auto found = log.read(concluded.id); found.has_value() && found.value()) {
        concluded.why = found.value()->why;
        concluded.participant = found.value()->participant;
        concluded.line = found.value()->line;
    }
}

/// True if the last error of the call explains the cancel.
[[nodiscard]] constexpr bool has_explanation(reason why) {
    return why == reason::record_unusable || why == reason::refused || why == reason::unavailable ||
           why == reason::unanswered;
}

/// Filled member by member: a whole aggregate would be cleared before it is filled.
[[nodiscard, gnu::always_inline]] inline outcome done(job& work) {
    outcome concluded;
    concluded.id.swap(work.id);
    concluded.verdict = verdict::done;
    concluded.results.swap(work.results);
    return concluded;
}

/// Shape:   work, execution - as the driver left them; the outcome takes the id, the problem and
///          the results
template <typename Log>
outcome conclude(job& work, execution_state const& execution, Log& log) {
    auto const& c = work.coordinator;
    // An error of an earlier try is obsolete when the transaction is done.
    bool const plain = execution.cut == interruption::none && c.why() == reason::none;
    if (plain && c.state() == state::done && !c.vanished()) return done(work);
    outcome concluded;
    concluded.id = std::move(work.id);
    concluded.problem = std::move(work.problem);
    if (execution.cut == interruption::mismatch)
        return refuse(concluded.id, id_in_use(concluded.id));
    if (execution.cut == interruption::unfit)
        return refuse(concluded.id, std::move(concluded.problem));
    if (execution.cut == interruption::redefined)
        return refuse(concluded.id, other_definition(*execution.seen));
    // After a finished run an earlier error is obsolete, or it is the cancel reason. Another owner
    // may have canceled for another reason, or committed.
    bool const ended = execution.cut == interruption::none;
    bool const taken_over = execution.cut == interruption::elsewhere;
    bool const obsolete = c.state() == state::done || !has_explanation(c.why());
    if (taken_over || (ended && obsolete)) concluded.problem = {};
    if (c.vanished()) concluded.problem = vanished_entry(concluded.id);
    // The commit was acknowledged, so only time has ended this call.
    if (execution.cut == interruption::stopped && c.state() == state::applied) {
        concluded.verdict = verdict::done;
        concluded.finished = false;
        concluded.results = std::move(work.results);
        return concluded;
    }
    if (execution.cut != interruption::none || c.vanished() || !is_final(c.state()))
        return concluded;
    concluded.verdict = c.state() == state::done ? verdict::done : verdict::canceled;
    concluded.results = std::move(work.results);
    if (concluded.canceled()) copy_reason(concluded, work, execution, log);
    return concluded;
}

} // namespace detail
SETTLE_END
