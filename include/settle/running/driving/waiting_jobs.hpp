// SPDX-License-Identifier: BSL-1.0
// The jobs of a window that wait for answers of stores, while the others go on.
#pragma once

#include <settle/running/driving/execution_state.hpp>
#include <settle/store/parts_under_way.hpp>

#include <algorithm>
#include <utility>

SETTLE_BEGIN
namespace detail {

/// Shape:   Calls - seam_calls
template <typename Calls>
class waiting_jobs {
    using moment = answer_signal::moment;

public:
    /// Lets the jobs rest whose parts a store has begun.
    /// Shape:   call after the stores were asked, if any job waits
    template <std::size_t Count>
    void let_rest(jobs_side_by_side<Count> const& group) {
        any_ = true;
        for (std::size_t i = 0; i < group.jobs.size(); ++i) {
            if (group.jobs[i].waiting == nullptr) continue;
            group.jobs[i].resting = true;
            group.executions[i].takes_part = false;
        }
    }
    /// True if some job may wait.
    [[nodiscard]] bool any() const noexcept { return any_; }

    /// Wakes jobs that have their answers. If no job can go on, waits until one has, or until the
    /// first of the others has rested.
    /// Shape:   first - the earliest end of a rest; idle - no other job has a step to take
    /// Returns: true if no job can go on
    template <std::size_t Count, typename Ends>
    [[gnu::cold, gnu::noinline]] bool wait(Calls& calls, jobs_side_by_side<Count> const& group,
                                           Ends const& ends, std::chrono::nanoseconds first,
                                           bool idle) {
        if (wake(calls, group, ends)) return false;
        if (!idle || (first == std::chrono::nanoseconds::max() && !any_)) return idle;
        auto const end = end_of_wait(calls, group, ends, first);
        std::optional<moment> until;
        if (end != std::chrono::nanoseconds::max()) {
            // Answers come in real time, whatever the clock of the environment is.
            until = std::chrono::steady_clock::now() + (end - ends.elapsed());
        }
        bool const is_called = wait_until(calls, until, ends.stop()) || end < first;
        calls.signal().clear();
        return !wake(calls, group, ends) && !is_called;
    }

private:
    /// Wakes each job that has its answers, or whose caller waits no longer.
    /// Returns: true if a job can go on, or there are new jobs
    template <std::size_t Count, typename Ends>
    bool wake(Calls& calls, jobs_side_by_side<Count> const& group, Ends const& ends) {
        bool any_answered = false;
        missing_ = 0;
        for (std::size_t i = 0; i < group.jobs.size(); ++i) {
            job& work = group.jobs[i];
            if (work.waiting == nullptr) continue;
            execution_state const& execution = group.executions[i];
            if (ends.stops(execution)) Calls::give_up(work, "a stop request");
            else if (ends.is_late(execution)) {
                Calls::give_up(work, "the deadline of the engine's caller");
            }
            bool const is_answered = Calls::has_answers(work);
            if (is_answered) work.resting = false;
            else ++missing_;
            any_answered = any_answered || is_answered;
        }
        any_ = any_answered || missing_ != 0;
        bool const goes_on =
            any_answered || (calls.source() != nullptr && calls.source()->is_called);
        if (!goes_on) return false;
        woken_ = std::chrono::steady_clock::now();
        // The next round looks at the limits of every job. Before a wait, the signal must stay: a
        // stop request may have come after that look.
        calls.signal().clear();
        return true;
    }

    /// When a wait must end at the latest.
    template <std::size_t Count, typename Ends>
    [[nodiscard]] static std::chrono::nanoseconds
    end_of_wait(Calls const& calls, jobs_side_by_side<Count> const& group, Ends const& ends,
                std::chrono::nanoseconds first) {
        auto end = first;
        if (calls.source() != nullptr)
            end = std::min(end, std::chrono::nanoseconds{calls.source()->until.load()});
        for (std::size_t i = 0; i < group.jobs.size(); ++i) {
            execution_state const& execution = group.executions[i];
            bool const has_end = group.jobs[i].waiting != nullptr || execution.own != nullptr;
            if (has_end && !execution.over)
                end = std::min(end, ends.end_of(execution).value_or(end));
        }
        return end;
    }

    /// Waits until some job may have its answers, or there are new jobs. Where many jobs wait, it
    /// waits for more answers as long as the last round took: what comes together shares the waves
    /// of the next round.
    /// Returns: false if the time is over
    bool wait_until(Calls& calls, std::optional<moment> const& until, std::stop_token const& stop) {
        auto const took = std::chrono::steady_clock::now() - woken_;
        if (!calls.signal().wait(1, until, stop)) return stop.stop_requested();
        if (missing_ <= 1) return true;
        constexpr std::chrono::nanoseconds longest = std::chrono::milliseconds{10};
        auto end =
            std::chrono::steady_clock::now() + std::min<std::chrono::nanoseconds>(took, longest);
        if (until) end = std::min(end, *until);
        calls.signal().wait(missing_, end, stop);
        return true;
    }

    bool any_ = false;
    std::size_t missing_ = 0; ///< jobs without all answers, when last looked at
    moment woken_{};          ///< when the last round began to go on
};

} // namespace detail
SETTLE_END
