// SPDX-License-Identifier: BSL-1.0
// The rules of the protocol by name: what a search switches off, one at a time, to show that each
// is needed.
#pragma once

#include <settle/version.hpp>

SETTLE_BEGIN
namespace detail {

/// A program runs with all of them. Only a search names a type that hides some of these, as a
/// template argument, so that no running program can be without one. A type may hide them by
/// variables, so that one search is compiled for all; `complete()` then says whether all are on.
struct protocol_rules {
    // Where a mark meets a record.

    /// A mark carries the epoch of its apply; without, it is there or it is not.
    static constexpr bool marks_carry_epochs = true;
    /// An apply raises a lower mark to its own epoch.
    static constexpr bool adopting_raises = true;
    /// An apply that meets a higher mark stops its worker.
    static constexpr bool applying_fences = true;
    /// A finish confirms a mark of the committed epoch alone.
    static constexpr bool finish_looks = true;
    /// Giving way and sweeping undo one epoch's mark alone.
    static constexpr bool undo_is_exact = true;
    /// A mark names its part; without, all parts of a transaction share one.
    static constexpr bool parts_in_marks = true;
    /// An exclusive mark keeps others away, and is kept away.
    static constexpr bool exclusive_marks = true;
    /// Guards hold whichever way the other marks end.
    static constexpr bool escrow = true;

    // What the coordinator does next.

    /// A claim raises the epoch.
    static constexpr bool claims_raise = true;
    /// An unknown apply is repeated under a new epoch only.
    static constexpr bool unknown_claims = true;
    /// After such a claim every part is applied again, not that one alone.
    static constexpr bool all_parts_again = true;
    /// An unknown insert or claim gives no right to its epoch.
    static constexpr bool acknowledged_only = true;
    /// A busy worker undoes its marks and tries a limited time.
    static constexpr bool backs_off = true;
    /// Who gave way begins again under a new epoch.
    static constexpr bool backs_off_anew = true;
    /// An entry that is too old is only canceled.
    static constexpr bool lifetimes = true;

    // What the log, the engine and the sweeper see to.

    /// An entry changes by compare-and-set on its epoch, too.
    static constexpr bool changes_compare = true;
    /// A cancel by anyone is a compare-and-set as well.
    static constexpr bool cancel_compares = true;
    /// Every insert has an epoch of its own.
    static constexpr bool first_epochs_differ = true;
    /// A mark without an entry is stray.
    static constexpr bool sweeps_unlogged = true;
    /// A store belongs to one log.
    static constexpr bool one_log = true;
    /// A native transaction that settles at once meets marks as an apply does.
    static constexpr bool one_phase_meets_marks = true;
    /// And changes nothing when its entry is there already.
    static constexpr bool one_phase_compares = true;
    /// Only what is done is reversed.
    static constexpr bool reverses_done = true;
};

} // namespace detail
SETTLE_END
