// SPDX-License-Identifier: BSL-1.0
// The bounds of a search, and the protocol that it drives.
#pragma once

#include <settle/protocol/coordinator.hpp>

SETTLE_BEGIN
namespace testing {

/// Everything else is unbounded: pauses of any length, takeovers and crashes at any moment, sweeps
/// and recoveries in any order.
struct bounds {
    std::size_t workers = 2;      ///< at most 3
    std::size_t late_writes = 1;  ///< operations with an unknown outcome, which land at any
                                  ///< later time or never; at most 3
    bool only_calls_late = false; ///< only calls have an unknown outcome
    std::uint32_t attempts = 1;   ///< the most times that a busy transaction starts over
    std::size_t calls_again = 0;  ///< calls of an id beyond its first
    bool crashes = true;          ///< a worker loses its state, at any moment
    bool cancels = false;         ///< a worker cancels at any moment
    bool sweeps = true;           ///< a sweeper examines any mark, at any moment
    bool ages = false;            ///< entries expire at any moment, and are then purged
    bool clocks_differ = false;   ///< with `ages`: some clocks pass a last moment before others
    bool swaps = false;           ///< a repeated call gets the answer of a late call of its key
    bool resolves = false;        ///< a person closes calls that were not confirmed or undone, and
                                  ///< a pivot without an answer
    bool guesses = false;         ///< with `resolves`: persons say of a pivot what they like; its
                                  ///< effect counts no more
    bool resubmits = false;       ///< a purged id is submitted again, which users must not do
    bool one_phase = false;       ///< a call may commit in one phase
    /// A bit for each part that is a record in the log's own store: a call may join them to its
    /// commit. 0: none.
    std::uint32_t own_parts = 0;
    bool late_entries = false; ///< a call may begin before it has an entry
    /// How often the store of all other parts stops, and loses any writes since its last forced
    /// write. Only confirms are not forced, those of calls that are answered at their commit.
    std::size_t store_crashes = 0;
    /// The versions of records differ after each change of their marks, too, and not of their
    /// values alone.
    bool versions_of_marks = false;
    /// Of readers alone it is checked that their answers are in one order. Each set of transactions
    /// must give the records of each reader other values.
    bool compares_readers = false;
    bool keeps_at_insert = true; ///< an insert may keep stage 0, as the log promises it
    bool submits = false;        ///< an id may be submitted, for any worker to run later
    bool requeues = false;       ///< an applied transaction may be requeued, as in a batch
    bool by_hand = false;        ///< a person rolls back any prepared name, at any moment
    bool refusals = false;       ///< a log may refuse a commit for good
    std::size_t most_states = 50'000'000;
};

/// The protocol of a search: a coordinator, and the rules that its records and its log follow.
template <typename Coordinator, typename Rules>
struct searched_protocol {
    using coordinator_type = Coordinator;
    using rules = Rules;
};

/// The shipped code.
using shipped_protocol = searched_protocol<coordinator, settle::detail::protocol_rules>;

/// The shipped code with some rules switched off.
template <typename Rules>
using protocol_without = searched_protocol<basic_coordinator<Rules>, Rules>;

} // namespace testing
SETTLE_END
