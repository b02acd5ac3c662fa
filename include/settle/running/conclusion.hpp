// SPDX-License-Identifier: BSL-1.0
// Makes the outcome of a job after the driver has finished with it.
#pragma once

#include <settle/running/progress.hpp>
#include <settle/running/refusals.hpp>

SETTLE_BEGIN
namespace detail {

/// The reason of a cancel: this worker's own, or the entry's when another worker canceled.
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

/// Filled member by member: a whole aggregate would be cleared before it is filled.
[[nodiscard, gnu::always_inline]] inline outcome done(transaction_id&& id) {
    outcome told;
    told.id.swap(id);
    told.verdict = verdict::done;
    return told;
}

/// Shape:   work, execution - as the driver left them; the outcome takes the id and the problem
template <typename Log>
outcome conclude(job& work, execution_state const& execution, Log& log) {
    auto const& c = work.coordinator;
    // An error of an earlier try is obsolete when the transaction is done.
    bool const plain = execution.cut == interruption::none && c.why() == reason::none;
    if (plain && c.state() == state::done && !c.vanished()) return done(std::move(work.id));
    outcome told;
    told.id = std::move(work.id);
    told.problem = std::move(work.problem);
    if (execution.cut == interruption::mismatch) return refuse(told.id, id_in_use(told.id));
    if (execution.cut == interruption::unfit) return refuse(told.id, std::move(told.problem));
    if (execution.cut == interruption::redefined)
        return refuse(told.id, other_definition(*execution.seen));
    // After a finished run an earlier error is obsolete, or it is the cancel reason.
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
