// SPDX-License-Identifier: BSL-1.0
// Jobs of one window with the same id.
#pragma once

#include <settle/base/hash_index.hpp>
#include <settle/running/driving/execution_state.hpp>

#include <functional>

SETTLE_BEGIN
namespace detail {

/// A job that finds the entry of an earlier job of its window rests until that job is over. No
/// other worker moves the entry, so further reads would be wasted.
class twins {
public:
    /// Call before an apply wave. A call without an entry must not meet the marks of an earlier
    /// job.
    void hold_back(jobs_side_by_side<std::dynamic_extent> const& group) {
        bool noted = false;
        for (std::size_t i = 1; i < group.jobs.size(); ++i) {
            job& work = group.jobs[i];
            if (!work.coordinator.is_late() || !work.takes(step::apply)) continue;
            if (!std::exchange(noted, true)) note_ids(group);
            if (has_earlier(i, group)) let_rest(work, group.executions[i]);
        }
    }

    /// Call after a wave that inserts or reads entries.
    void let_rest(jobs_side_by_side<std::dynamic_extent> const& group) {
        bool noted = false;
        for (std::size_t i = 1; i < group.jobs.size(); ++i) {
            execution_state& execution = group.executions[i];
            if (!execution.takes_part || execution.over || !finds_entry(group.jobs[i])) continue;
            if (!std::exchange(noted, true)) note_ids(group);
            if (has_earlier(i, group)) let_rest(group.jobs[i], execution);
        }
    }

    /// Wakes each job whose earlier job is over.
    void wake(jobs_side_by_side<std::dynamic_extent> const& group) {
        if (!any_) return;
        any_ = false;
        note_ids(group);
        for (std::size_t i = 0; i < group.jobs.size(); ++i) {
            execution_state& execution = group.executions[i];
            if (!execution.behind_twin || execution.over) continue;
            execution.behind_twin = has_earlier(i, group);
            any_ = any_ || execution.behind_twin;
            if (!execution.behind_twin) release(execution);
        }
    }

    /// Wakes a job that waits for no earlier job any more.
    static void release(execution_state& execution) {
        execution.behind_twin = false;
        execution.wakes = {};
    }

private:
    using jobs_of_window = jobs_side_by_side<std::dynamic_extent>;

    void let_rest(job& work, execution_state& execution) {
        work.resting = true;
        execution.wakes = std::chrono::nanoseconds::max();
        execution.behind_twin = any_ = true;
    }

    /// A job that rests before it reads has found the log unreachable.
    static bool finds_entry(job const& work) {
        step const next = work.coordinator.next();
        return next == step::wait || (next == step::read && !work.resting);
    }

    /// Notes for each id the first job that is not over.
    void note_ids(jobs_of_window const& window) {
        first_.clear();
        for (std::size_t i = 0; i < window.jobs.size(); ++i) {
            if (window.executions[i].over || first_of(window.jobs[i].id, window) != nullptr)
                continue;
            first_.insert(std::hash<transaction_id>{}(window.jobs[i].id), i);
        }
    }
    [[nodiscard]] bool has_earlier(std::size_t index, jobs_of_window const& all) const {
        auto const* const first = first_of(all.jobs[index].id, all);
        return first != nullptr && *first < index;
    }
    [[nodiscard]] std::size_t const* first_of(transaction_id const& id,
                                              jobs_of_window const& window) const {
        return first_.find(std::hash<transaction_id>{}(id),
                           [&](std::size_t other) { return window.jobs[other].id == id; });
    }

    hash_index first_;
    bool any_ = false; ///< some job rests until an earlier job with its id is over
};

} // namespace detail
SETTLE_END
