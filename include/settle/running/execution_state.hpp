// SPDX-License-Identifier: BSL-1.0
// What a driver remembers of the jobs under way.
#pragma once

#include <settle/running/order.hpp>

#include <memory>

SETTLE_BEGIN

/// What ended a drive before the coordinator's own end.
enum class interruption : std::uint8_t {
    none,
    stopped,    ///< deadline or stop token
    elsewhere,  ///< another owner is at work, and the caller does not wait for it
    mismatch,   ///< the id is in use by another transaction
    redefined,  ///< the entry is unfinished and was made by another definition
    described,  ///< the entry is unfinished and has a type, which alone knows its records
    unfit,      ///< the log cannot hold such an entry
    failed      ///< the log holds something that cannot be read
};

/// What a driver remembers of a job, beside what the stores and the log look at.
struct execution_state {
    /// The entry as it was last read. Most never are, and it is large.
    std::unique_ptr<entry> seen{};
    interruption cut = interruption::none;
    bool over = false;
    bool takes_part = false;     ///< in the step that is under way
    bool kept_back = false;      ///< by the order of its window
    bool held_up = false;        ///< by others than its window, the last time it was asked
    bool fell_back = false;      ///< behind an earlier one of its window, the last time
    bool fenced = false;         ///< a mark was under a later epoch, and its entry is to be read
    bool behind = false;         ///< that entry seemed not to have moved, which a claim shows
    bool ended_here = false;     ///< a write of this call made the entry final
    bool failed_unsure = false;  ///< a write of unknown outcome had an error that is permanent
    bool behind_twin = false;    ///< rests until an earlier one of its id in its window is over
    answer met = answer::none;   ///< the first answer of a wave that was not a plain yes
    /// Epochs of writes that may have made the entry final, and were not answered: first and last.
    epoch first_unsure = 0;
    epoch last_unsure = 0;
    std::uint32_t rests = 0;
    std::chrono::nanoseconds wakes{}; ///< the end of its rest, on the clock of elapsed()
    std::optional<std::chrono::nanoseconds> deadline{};
    std::optional<std::chrono::nanoseconds> still_since{};
};

namespace detail {

/// The jobs of one window, in their order, and what their driver remembers of them.
/// Shape:   Count - 1 where it is known that there is one job, which spares what only several need
template <std::size_t Count>
struct jobs_side_by_side {
    std::span<job, Count> jobs;
    std::span<execution_state, Count> executions;
    bool follows;                    ///< wait for another owner: a caller does, a recovery not
    record_hashes_function* records; ///< of a job; nothing where it has none
};

} // namespace detail
SETTLE_END
