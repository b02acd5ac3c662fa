// SPDX-License-Identifier: BSL-1.0
// What a search may do, and how often.
#pragma once

#include <settle/protocol/coordinator.hpp>

SETTLE_BEGIN
namespace testing {

/// What is not named here has no bound: pauses of any length, takeovers and crashes at any moment,
/// sweeps, recoveries, in any order.
struct bounds {
    std::size_t workers = 2;        ///< at most 3
    std::size_t late_writes = 1;    ///< operations of unknown outcome, landing at any later time
                                    ///< or never; at most 3
    std::uint32_t attempts = 1;     ///< how often a busy transaction starts over
    std::size_t calls_again = 0;    ///< calls of an id beyond its first
    bool crashes = true;            ///< a worker forgets everything, at any moment
    bool cancels = false;           ///< cancel asked at any moment
    bool sweeps = true;             ///< a sweeper looks at any mark, at any moment
    bool ages = false;              ///< entries grow too old at any moment, and are then purged
    bool resubmits = false;         ///< a purged id is submitted once more, as its user must not
    bool one_phase = false;         ///< a call may settle its transaction at once
    bool submits = false;           ///< an id may be submitted, to be run by whoever takes it over
    bool yields = false;            ///< who has applied may fall back, as in a batch
    bool refusals = false;          ///< a log may be unable to hold what it is to commit
    std::size_t most_states = 50'000'000;
};

/// What a search drives: a coordinator, and the rules that its records and its log follow.
template <typename Mind, typename Rules>
struct searched_protocol {
    using mind = Mind;
    using rules = Rules;
};

/// The code that runs.
using shipped_protocol = searched_protocol<coordinator, settle::detail::protocol_rules>;

/// The same code, with some of its rules switched off.
template <typename Rules>
using protocol_without = searched_protocol<basic_coordinator<Rules>, Rules>;

} // namespace testing
SETTLE_END
