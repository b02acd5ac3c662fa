// SPDX-License-Identifier: BSL-1.0
// The state that a driver keeps for each job under way.
#pragma once

#include <settle/running/driving/caller_limits.hpp>
#include <settle/running/driving/interruption.hpp>
#include <settle/running/driving/job.hpp>

#include <memory>

SETTLE_BEGIN

/// What the next event of a job tells of it: several of these bits.
enum class entry_news : std::uint8_t {
    none = 0,
    first_event = 1,
    inserted = 2,
    claimed = 4,
    took_over = 8
};
[[nodiscard]] constexpr entry_news operator|(entry_news left, entry_news right) noexcept {
    return static_cast<entry_news>(static_cast<unsigned>(left) | static_cast<unsigned>(right));
}
[[nodiscard]] constexpr bool has(entry_news news, entry_news bit) noexcept {
    return (static_cast<unsigned>(news) & static_cast<unsigned>(bit)) != 0;
}

/// The state of a job that only its driver uses; the job itself has the other members.
struct execution_state {
    /// The entry as last read. Most jobs never read theirs, and an entry is large.
    std::unique_ptr<entry> seen{};
    interruption cut = interruption::none;
    bool over = false;
    bool takes_part = false;   ///< in the current step
    bool kept_back = false;    ///< by the order of its window
    bool held_up = false;      ///< by marks or a store outside its window, when last sent
    bool requeued = false;     ///< after an earlier job of its window, when it was last sent
    bool fenced = false;       ///< a mark had a later epoch, so the entry must be read
    bool behind_marks = false; ///< the entry was unchanged at that read; a claim verifies it
    bool ended_here = false;   ///< a write of this call made the entry final
    bool owns_entry = false;   ///< the log acknowledged an insert or a claim of this call
    entry_news news = entry_news::first_event; ///< for the next event
    bool failed_unsure = false;                ///< a write of unknown outcome had a permanent error
    bool leaving = false;                      ///< it is given up once its entry is in the log
    bool behind_twin = false; ///< rests until an earlier job of its window with its id is over
    answer failed_answer =
        answer::none; ///< the first answer of a wave other than applied or nothing
    /// First and last epoch of unanswered writes that may have made the entry final.
    epoch first_unsure = 0;
    epoch last_unsure = 0;
    std::uint32_t rests = 0;
    std::chrono::nanoseconds wakes{}; ///< the end of its rest, on the clock of elapsed()
    std::optional<std::chrono::nanoseconds> first_rest{};
    std::optional<std::chrono::nanoseconds> still_since{};
    caller_limits const* own = nullptr; ///< outlives the job; null if the driver has one caller
};

namespace detail {

/// The jobs of one window, in their order, and the driver's state of each.
/// Shape:   Count - 1 for a single job, which saves the work that only several jobs need
template <std::size_t Count>
struct jobs_side_by_side {
    std::span<job, Count> jobs;
    std::span<execution_state, Count> executions;
    bool follows; ///< wait for another owner: a caller does, recovery does not
};

[[nodiscard]] bool same_parameters(job const& work, entry const& stored);

/// An entry without a type was inserted by a cancel or a sweep, and matches any transaction. A
/// job without a type knows no records to compensate, so it leaves a typed entry alone.
[[nodiscard]] interruption compare_entry(job const& work, entry const& stored);

} // namespace detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/running/driving/execution_state.ipp>
#endif
