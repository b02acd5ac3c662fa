// SPDX-License-Identifier: BSL-1.0
// What a job that was driven comes to, as its caller is told.
#pragma once

#include <settle/running/progress.hpp>
#include <settle/running/refusals.hpp>

SETTLE_BEGIN
namespace detail {

/// Why it was canceled: as this worker saw it, or as the entry says when another one did it.
template <typename Log>
void tell_reason(outcome& told, job const& work, execution_state const& execution, Log& log) {
    auto const& c = work.coordinator;
    if (execution.seen && execution.seen->why != reason::none) {
        told.why = execution.seen->why;
        told.participant = execution.seen->participant;
        told.line = execution.seen->line;
    } else if (c.why() != reason::none) {
        told.why = c.why();
        if (c.failed_part() == coordinator::no_part) return;
        part_name const where = work.name_part(c.failed_part());
        told.participant = where.participant;
        told.line = where.line;
    } else if (auto found = log.read(told.id); found.has_value() && found.value()) {
        told.why = found.value()->why;
        told.participant = found.value()->participant;
        told.line = found.value()->line;
    }
}

/// Filled member by member: an aggregate is cleared as a whole before it is filled.
[[nodiscard, gnu::always_inline]] inline outcome done(transaction_id&& id) {
    outcome told;
    told.id.swap(id);
    told.verdict = verdict::done;
    return told;
}

/// Shape:   work, way - as the driver left them; the id and the problem go into the outcome
template <typename Log>
outcome conclude(job& work, execution_state const& execution, Log& log) {
    auto const& c = work.coordinator;
    // What stood in the way of one that is done was overcome.
    bool const plain = execution.cut == interruption::none && c.why() == reason::none;
    if (plain && c.state() == state::done && !c.vanished()) return done(std::move(work.id));
    outcome told;
    told.id = std::move(work.id);
    told.problem = std::move(work.problem);
    if (execution.cut == interruption::mismatch) return refuse(told.id, id_in_use(told.id));
    if (execution.cut == interruption::unfit) return refuse(told.id, std::move(told.problem));
    if (execution.cut == interruption::redefined)
        return refuse(told.id, other_definition(*execution.seen));
    // What stood in the way on a way that was gone to its end is overcome, or is why it ended.
    bool const gone =
        execution.cut == interruption::none || execution.cut == interruption::elsewhere;
    if (gone && c.why() != reason::record_unusable) told.problem = {};
    if (c.vanished()) told.problem = vanished_entry(told.id);
    if (execution.cut != interruption::none || c.vanished() || !is_final(c.state())) return told;
    told.verdict = c.state() == state::done ? verdict::done : verdict::canceled;
    if (told.canceled()) tell_reason(told, work, execution, log);
    return told;
}

} // namespace detail
SETTLE_END
