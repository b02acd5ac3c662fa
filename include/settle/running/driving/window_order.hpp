// SPDX-License-Identifier: BSL-1.0
// Asks the order of a window (order.hpp) which jobs of a wave wait, before it and after it.
#pragma once

#include <settle/running/driving/execution_state.hpp>
#include <settle/running/driving/order.hpp>

#include <memory>
#include <utility>

SETTLE_BEGIN
namespace detail {

/// Shape:   Rules - of record_order
template <typename Rules>
class window_order {
public:
    /// Keeps back each job on a record of a waiting earlier job; false if no job is left to send.
    template <std::size_t Count>
    bool keep(step wave, jobs_side_by_side<Count> const& group) {
        if (!order_) order_ = std::make_unique<order>();
        order_->begin();
        for (std::size_t i = 0; i < group.jobs.size(); ++i) {
            bool const backs_off = group.jobs[i].coordinator.next() == step::back_off;
            if (backs_off && !group.executions[i].over) order_->backs_off(group.jobs[i]);
        }
        bool any = false;
        for (std::size_t i = 0; i < group.jobs.size(); ++i) {
            execution_state& execution = group.executions[i];
            if (execution.over) continue;
            // A job that waited for answers has begun the step, so no other job holds it back.
            bool const has_begun = execution.takes_part && waits_for_answers(group.jobs[i]);
            bool const due = execution.takes_part && !has_begun;
            bool const waits =
                order_->must_wait(wave, group.jobs[i], due, execution.held_up, execution.requeued);
            if (!execution.takes_part) continue;
            any = any || has_begun || !waits;
            if (has_begun || !waits) continue;
            execution.takes_part = false;
            execution.kept_back = true;
            group.jobs[i].resting = true;
        }
        return any;
    }

    /// Lets each job that was kept back go on. Calls `waited(job, execution, stalled)` for each; it
    /// is stalled if it makes no progress, and may have waited too long then.
    template <step Step, std::size_t Count, typename Waited>
    void look(jobs_side_by_side<Count> const& group, Waited&& has_waited) {
        order_->begin_answers();
        if constexpr (Step == step::apply) order_->begin_rulings();
        if (no_job_waits<Step>(group)) return;
        for (std::size_t i = 0; i < group.jobs.size(); ++i) {
            execution_state& execution = group.executions[i];
            job& work = group.jobs[i];
            if (execution.over) continue;
            bool const waited = std::exchange(execution.kept_back, false);
            if (waited) work.resting = false;
            if constexpr (Step == step::apply) take_ruling(work, execution);
            bool const failed =
                Step == step::apply ? execution.held_up : work.reply != log_answer::taken;
            bool const rests = work.resting && !waits_for_answers(work);
            // A job that rests checks its own time.
            bool const stalled = order_->stalls(Step, work, execution.takes_part ? failed : rests);
            if (waited) has_waited(work, execution, stalled);
        }
    }

private:
    using order = record_order<Rules>;

    [[nodiscard]] static bool waits_for_answers(job const& work) { return work.waiting != nullptr; }

    /// True if every job of the wave has taken effect and no job was kept back. In this usual case
    /// the order of the window has nothing to decide.
    template <step Step, std::size_t Count>
    static bool no_job_waits(jobs_side_by_side<Count> const& group) {
        for (std::size_t i = 0; i < group.jobs.size(); ++i) {
            execution_state const& execution = group.executions[i];
            if (execution.kept_back) return false;
            if (Step == step::one_phase) continue;
            bool const waits = !execution.over && waits_for_answers(group.jobs[i]);
            if (waits && order::may_be_requeued(group.jobs[i])) return false;
            if (execution.held_up) return false;
            if (!execution.takes_part) continue;
            auto const& c = group.jobs[i].coordinator;
            for (std::size_t part = 0; part < c.parts(); ++part) {
                if (c.answer_of(part) != answer::applied) return false;
            }
        }
        return true;
    }

    /// A job that failed because of an earlier job of its window is requeued: it may succeed later.
    /// A later job on the same record is requeued, too.
    void take_ruling(job& work, execution_state& execution) {
        auto const found = order_->ruling_of(work, execution.takes_part);
        if (execution.takes_part) execution.held_up = found == order::ruling::held_up;
        execution.kept_back = found == order::ruling::requeued;
    }

    std::unique_ptr<order> order_; ///< only with several jobs under way
};

} // namespace detail
SETTLE_END
