// SPDX-License-Identifier: BSL-1.0
// Makes the outcome of a job after the driver has finished with it.
#pragma once

#include <settle/running/calls/refusals.hpp>
#include <settle/running/driving/execution_state.hpp>

SETTLE_BEGIN
namespace detail {

/// Reads an entry with the time that the call has left.
using entry_reader = function_view<result<std::optional<entry>>(transaction_id const&)>;

/// Filled member by member: a whole aggregate would be cleared before it is filled.
[[nodiscard, gnu::always_inline]] inline outcome done(job& work) {
    outcome concluded;
    concluded.id.swap(work.id);
    concluded.verdict = verdict::done;
    concluded.results.swap(work.results);
    return concluded;
}

/// The outcome of a job that did not simply end as done.
outcome conclude_rest(job& work, execution_state const& execution, entry_reader read);

/// Shape:   work, execution - as the driver left them; the outcome takes the id and the results
inline outcome conclude(job& work, execution_state const& execution, entry_reader read) {
    auto const& c = work.coordinator;
    // An error of an earlier try is obsolete when the transaction is done.
    bool const plain = execution.cut == interruption::none && c.why() == reason::none;
    if (plain && c.state() == state::done && !c.vanished()) return done(work);
    return conclude_rest(work, execution, read);
}

} // namespace detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/running/calls/conclusion.ipp>
#endif
