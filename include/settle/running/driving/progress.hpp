// SPDX-License-Identifier: BSL-1.0
// Advances jobs between waves: each job takes its answers, then goes on, rests or ends.
//
// This file uses no C++ type of a transaction, so it is compiled once for all types.
#pragma once

#include <settle/protocol/fresh.hpp>
#include <settle/running/calls/refusals.hpp>
#include <settle/running/calls/statistics.hpp>
#include <settle/running/driving/call_pauses.hpp>
#include <settle/running/driving/found_entries.hpp>
#include <settle/running/driving/hand_over.hpp>
#include <settle/running/driving/one_phase.hpp>
#include <settle/running/driving/retries.hpp>
#include <settle/running/driving/twins.hpp>
#include <settle/running/driving/wait_ends.hpp>
#include <settle/running/driving/waiting_jobs.hpp>
#include <settle/running/driving/window_order.hpp>

#include <memory>

SETTLE_BEGIN
namespace detail {

/// Shape:   Calls - container_calls or seam_calls
template <typename Calls, typename Environment, typename Observer>
class progress : found_entries<Environment, Observer, Calls::takes_no_time> {
    using base = found_entries<Environment, Observer, Calls::takes_no_time>;
    using base::environment_, base::limits_, base::now_, base::watch_;

public:
    progress(Calls& calls, Environment const& environment, Observer& observer,
             options const& limits, std::string const& owner, call_options const& call,
             stuck_transactions& stuck, hand_over const* finisher)
        : base(environment, observer, limits, owner), calls_(calls), call_(call), stuck_(stuck),
          finisher_(finisher), ends_(environment, limits, call) {}

    /// True if the caller's own deadline has passed.
    [[nodiscard]] bool late() const { return ends_.late(); }

    [[nodiscard]] std::string_view traceparent() const { return call_.traceparent; }
    /// The limits of the call from now on.
    [[nodiscard]] call_options rest() const { return ends_.rest(); }

    /// The observer's first exception. It is rethrown after the transactions under way have ended.
    [[nodiscard]] std::exception_ptr const& thrown() const noexcept { return watch_.thrown(); }

    /// The time that the next steps carry. The clock is read once a wave, after every wait, and
    /// whenever the age of an entry decides.
    [[nodiscard]] timestamp time() const { return now_; }
    [[nodiscard]] write_context now() const {
        return {now_, this->owner_, clock_view::on(environment_)};
    }

    /// Reads the clock: after a slow wave, or before a new job.
    void look_at_clock() { now_ = environment_.now(); }

    /// A new job can go on, whatever the jobs of the last round do.
    void note_new_job() noexcept { idle_ = false; }

    /// The decision for the one-phase transactions of a wave.
    [[nodiscard]] one_phase_decision<Environment> decision(std::span<job> jobs) const {
        return {jobs, environment_, limits_, ordering_, false};
    }
    /// The same for the joined commits of a wave.
    [[nodiscard]] one_phase_decision<Environment> decision_to_join(std::span<job> jobs) const {
        return {jobs, environment_, limits_, jobs.size() > 1, true};
    }

    /// Gives a job up that rests before its next calls, since others need its room.
    void end_resting(job& work, execution_state& execution) {
        bool const rests = work.resting && !waits(work) && !execution.over;
        if (Calls::several_stages && rests && calls_next(work)) {
            give_up(work, execution, ended_waiting("the room that other entries need"));
        }
    }

    /// Notes in each job whether it takes the step; true if any job does.
    template <step Step, std::size_t Count>
    [[gnu::always_inline]] bool begin(jobs_side_by_side<Count> const& group) {
        bool any = false;
        if constexpr (Step == step::apply && Calls::one_phase && Count != 1) {
            twins_.hold_back(group);
        }
        for (std::size_t i = 0; i < group.jobs.size(); ++i) {
            bool const takes_part = group.jobs[i].takes(Step);
            // A single job needs no note: its wave ends only if it takes part.
            if constexpr (Count != 1) group.executions[i].takes_part = takes_part;
            any = any || takes_part;
        }
        if constexpr (keeps_order<Step> && Count != 1) {
            ordering_ = any && group.jobs.size() > 1;
            if (ordering_) any = order_.keep(Step, group);
        }
        if (any) idle_ = false;
        return any;
    }

    /// True if the last wave of reads found entries: the next ids may exist, too.
    using base::finds_entries;

    /// Reads the entries of the jobs that need a read, in one call of the log.
    template <std::size_t Count>
    [[gnu::noinline]] void read(jobs_side_by_side<Count> const& group) {
        if constexpr (!Calls::takes_no_time) look_at_clock();
        this->finds_entries_ = false;
        calls_.look_up(
            group.jobs, [&](job& work, result<std::optional<entry>>&& looked_up, bool same) {
                execution_state& execution =
                    group.executions[static_cast<std::size_t>(&work - group.jobs.data())];
                execution.cut = this->take_found(work, execution, std::move(looked_up), same);
            });
    }

    /// Gives the jobs of the wave their answers.
    template <step Step, std::size_t Count>
    [[gnu::always_inline]] void end(jobs_side_by_side<Count> const& group) {
        if constexpr (keeps_order<Step> && Count != 1) {
            if (ordering_) {
                auto const waited = [this](job& work, execution_state& execution, bool stalled) {
                    if (stalled || ends_.is_over(execution)) end_if_late(work, execution);
                };
                order_.template look<Step>(group, waited);
            }
        }
        for (std::size_t i = 0; i < group.jobs.size(); ++i) {
            execution_state& execution = group.executions[i];
            if (Count != 1 && !execution.takes_part) continue;
            job& work = group.jobs[i];
            watch_.template note_write<Step>(work, execution);
            watch_.template note_right<Step>(work, execution);
            stage_number const stage = work.coordinator.stage();
            execution.cut = take_answer<Step>(work, execution);
            watch_.template note_end<Step>(work, execution);
            bool const same_stage =
                !Calls::several_stages ||
                (work.coordinator.stage() == stage && !std::exchange(work.sends_more, false));
            // A stage that is over; a claim goes back over stages, too.
            constexpr bool ends = Step == step::keep || Step == step::confirm || undoes(Step);
            if (ends && !same_stage) execution.rests = 0;
            // What an earlier worker has tried was another call.
            if (Step == step::keep || Step == step::cancel) work.awaits_next_try = false;
            bool const again = same_stage && work.coordinator.next() == Step;
            // A job that is held back waits for other transactions.
            bool const waits = writes_log(Step) && work.reply == log_answer::held_back;
            watch_.step_taken(Step, work, execution, now_, again && !waits,
                              again && gets_stuck(work));
            go_on(Step, same_stage, work, execution, group.follows);
        }
        constexpr bool may_find_entries = Step == step::insert || Step == step::read;
        if constexpr (may_find_entries && Count != 1) twins_.let_rest(group);
    }

    /// True if a job of the last wave has tries that its entry does not have.
    [[nodiscard]] bool notes_tries() { return std::exchange(notes_tries_, false); }

    /// Notes the jobs that wait for answers, which come later.
    template <std::size_t Count>
    void let_wait(jobs_side_by_side<Count> const& group) {
        waiting_.let_rest(group);
    }

    /// Wakes jobs whose rest is over, or whose answers have come. If no other job can go on, waits
    /// for the first of them.
    template <std::size_t Count>
    [[gnu::always_inline]] void wake(jobs_side_by_side<Count> const& group) {
        auto first = std::chrono::nanoseconds::max();
        bool any_awake = false;
        if constexpr (Count != 1) twins_.wake(group);
        for (std::size_t i = 0; i < group.jobs.size(); ++i) {
            execution_state& execution = group.executions[i];
            if (execution.over || waits(group.jobs[i])) continue;
            // Its own caller waits no longer for the earlier job.
            if (execution.behind_twin && ends_.is_over(execution)) twins::release(execution);
            if (group.jobs[i].resting) first = std::min(first, execution.wakes);
            else any_awake = true;
        }
        // Jobs that are awake but have no step to take wait for a job that rests.
        bool idle = std::exchange(idle_, true) || !any_awake;
        if constexpr (Calls::several_stages) {
            if (waiting_.any() || calls_.source() != nullptr) {
                idle = waiting_.wait(calls_, group, ends_, first, idle);
                look_at_clock();
            }
        }
        if (first == std::chrono::nanoseconds::max()) return;
        wake_at(first, idle, group.jobs, group.executions);
    }

private:
    /// True if this step keeps the order of the window.
    template <step Step>
    static constexpr bool keeps_order = Step == step::apply || Step == step::one_phase;

    template <step Step>
    [[gnu::always_inline]] interruption take_answer(job& work, execution_state& execution) {
        auto& c = work.coordinator;
        constexpr bool takes_over =
            Step == step::claim || Step == step::cancel || Step == step::one_phase;
        if constexpr (takes_over) {
            if (work.reply == log_answer::blocked) return interruption::failed;
        }
        if constexpr (Step == step::insert || Step == step::one_phase) {
            // A new id that is already in use is replaced by another new id.
            bool const is_there =
                work.reply == log_answer::conflict || work.reply == log_answer::ended;
            if (work.new_id && is_there) work.id = fresh_id(environment_);
            // After an unknown insert, an entry with the id counts as an entry of this job.
            work.new_id = work.new_id && work.reply != log_answer::unknown;
            if (work.reply == log_answer::unfit && c.inserts()) return interruption::unfit;
            if constexpr (Step == step::insert) {
                work.new_id = work.new_id && work.reply != log_answer::taken;
                c.inserted(work.reply, this->expired(work));
                if (work.reply == log_answer::taken) work.first_epoch = c.epoch_number();
            } else {
                watch_.note_answers(work, execution);
                c.settled(work.reply);
                if (work.reply == log_answer::unfit) c.cancel_for(reason::record_unusable);
            }
        } else if constexpr (Step == step::read) {
            return execution.cut;
        } else if constexpr (Step == step::claim) {
            bool const first = c.state() == state::initial;
            c.claimed(work.reply, this->expired(work));
            if (first && work.reply == log_answer::taken) work.first_epoch = c.epoch_number();
            // A read may be stale; a compare-and-set is not. It shows that no other worker raised
            // the entry's epoch, and yet a mark has a later epoch.
            if (execution.behind_marks && work.reply == log_answer::taken) {
                work.problem = entry_behind_marks(work.id);
                return interruption::failed;
            }
        } else if constexpr (Step == step::keep) {
            c.kept(work.reply);
            if (work.reply == log_answer::unfit) c.cancel_for(reason::record_unusable);
        } else if constexpr (Step == step::decide || Step == step::refuse) {
            bool const may_be_own =
                work.reply == log_answer::taken || work.reply == log_answer::unknown;
            work.new_id = work.new_id && !may_be_own;
            if (work.reply == log_answer::held_back) take_held_back(work, execution);
            else c.decided(work.reply);
        } else if constexpr (commits(Step)) {
            if (work.reply == log_answer::held_back) take_held_back(work, execution);
            else c.committed(work.reply);
            if (work.reply == log_answer::unfit) c.cancel_for(reason::record_unusable);
        } else if constexpr (Step == step::close) {
            c.closed(work.reply);
        } else if constexpr (Step == step::cancel) {
            c.canceled(work.reply);
        } else if constexpr (Step == step::force) {
            work.confirmed_since = 0;
            c.forced(work.is_forced);
        } else {
            take_store_answers<Step>(work, execution);
        }
        return interruption::none;
    }

    template <step Step>
    [[gnu::always_inline]] void take_store_answers(job& work, execution_state& execution) {
        auto& c = work.coordinator;
        watch_.note_answers(work, execution);
        if (Step == step::apply) execution.requeued = std::exchange(execution.kept_back, false);
        if (Step == step::apply && execution.requeued) c.requeue();
        else if (Calls::several_stages && c.stages() > 1) decide_stage(Step, work);
        else c.decide(Step, limits_.attempts);
        if (c.next() == step::force && !calls_.confirms_lazily()) c.forced(true);
        // A fenced worker reads the entry at once. A worker whose record cannot be used while
        // the pivot decides reads it too, and then pauses.
        // A call without an entry looks for one.
        if (Step == step::apply && c.next() == step::read && !c.pauses() && !c.is_late()) {
            execution.fenced = true;
        }
    }

    /// A joined commit has changed nothing.
    [[gnu::noinline]] void take_held_back(job& work, execution_state& execution) {
        watch_.note_answers(work, execution);
        execution.requeued = std::exchange(work.follows_earlier, false);
        if (execution.requeued) work.coordinator.requeue();
        else work.coordinator.not_joined(limits_.attempts);
    }

    /// Decides a wave of a transaction with calls. It is canceled if a call was made too often, or
    /// if it has expired before its pivot is called.
    [[gnu::noinline]] void decide_stage(step taken, job& work) {
        auto& c = work.coordinator;
        stage_number const stage = c.stage();
        auto const failed = count_tries(taken, work, limits_.call_attempts);
        c.decide(taken, limits_.attempts);
        bool const again = c.next() == taken && c.stage() == stage;
        if (again && failed.why != reason::none) c.cancel_for(failed.why, failed.part);
        // The records of a transaction that is taken over are applied again before its calls.
        bool const is_over = stage != 0 && (c.next() != taken || c.stage() != stage);
        if (is_over) work.call_tries = work.retry_after_ms = 0;
        if (c.next() != taken || c.stage() != stage) work.failing.clear();
        if (!again || is_over) work.notes_tries = false;
        if (taken == step::compensate && work.order_undo()) send_more(work);
        if (taken != step::apply) return;
        look_at_clock();
        c.look_at_age(this->expired(work));
    }

    /// A part is compensated now that has waited for another. What has failed keeps its pause.
    [[gnu::cold, gnu::noinline]] void send_more(job& work) {
        work.sends_more = true;
        work.failing.begin_anew();
        if (work.failing.empty()) {
            work.call_tries = 0;
            work.notes_tries = false;
            return;
        }
        auto const elapsed = environment_.elapsed();
        note_next_try(work, pause_of(work, 0, limits_, elapsed, environment_.random()));
        work.failing.wake(elapsed);
    }

    /// Chooses what follows a step: the end, a rest, or the next step.
    /// Shape:   same_stage - the next step is of the same stage as the step that was taken
    [[gnu::always_inline]] void go_on(step taken, bool same_stage, job& work,
                                      execution_state& execution, bool follows) {
        step const next = work.coordinator.next();
        if (execution.cut == interruption::none && next == step::wait && !follows) {
            execution.cut = interruption::elsewhere;
        }
        if (finisher_ != nullptr && commits(taken) && next == step::confirm &&
            finisher_->has_room()) {
            execution.cut = interruption::answered;
        }
        if (execution.cut != interruption::none || next == step::end) return end(work, execution);
        // The caller waits no longer; the entry lets a recovery bring the transaction to its end.
        if (execution.leaving && !work.coordinator.is_late()) return end_if_late(work, execution);
        // A job that only waits for an earlier job of its wave takes no pause: the earlier job ends
        // first, or rests, and then keep_order() keeps this job back. The time limit of this job
        // begins here all the same.
        if (taken == step::one_phase && next == taken && work.reply == log_answer::held_back) {
            return end_if_late(work, execution);
        }
        // A log that answers `unknown` may do so again, so the job rests then, too.
        bool const stalled = (next == taken && same_stage) ||
                             (taken == step::force && next == step::confirm) ||
                             (writes_log(taken) && work.reply == log_answer::unknown);
        bool const hopeless = std::exchange(work.hopeless, false);
        if (stalled && fails_always(taken, work, execution, hopeless)) {
            if (leaves(work, execution)) return;
            execution.cut = interruption::failed;
            return end(work, execution);
        }
        if (stalled || next == step::pause || next == step::wait) return rest(work, execution);
        if (must_end_before_calls(work, execution)) {
            work.problem = {};
            return end_if_late(work, execution);
        }
        bool const waits = Calls::several_stages && work.awaits_next_try && calls_next(work);
        if (waits) rest_until_next_try(work, execution);
    }

    /// True if the next wave has calls, which take as long as their services like, and the caller
    /// does not wait any more.
    [[nodiscard]] bool must_end_before_calls(job const& work,
                                             execution_state const& execution) const {
        return Calls::several_stages && calls_next(work) &&
               (ends_.stops(execution) || ends_.is_late(execution));
    }

    /// True if a transaction whose step is taken again is stuck, and was not before.
    [[gnu::cold, gnu::noinline]] bool gets_stuck(job const& work) {
        bool const is_old = age_of(work.created, now_, limits_.clocks) > limits_.stuck_after;
        return (is_old || work.for_person) && stuck_.add(work.id);
    }

    /// The clock is read for an observer alone.
    [[nodiscard]] timestamp time_of_end() const {
        if constexpr (!Calls::takes_no_time) {
            if (watch_.watches()) return environment_.now();
        }
        return now_;
    }

    /// Ends the job: no wave includes it any more.
    void end(job& work, execution_state& execution) {
        execution.over = true;
        work.resting = true;
        if (is_final(work.coordinator.state()) || work.coordinator.vanished())
            stuck_.remove(work.id);
        watch_.call_ended(work, execution, time_of_end());
    }

    // ------------------------------------------------------------------------------------- resting

    /// Ends a job without progress after the deadline, a stop request or the patience.
    [[gnu::cold, gnu::noinline]] void end_if_late(job& work, execution_state& execution) {
        if (auto why = ends_.why_over(work, execution); !why.empty()) {
            give_up(work, execution, std::move(why));
        }
    }
    /// True if a job that is given up inserts its entry first, since it may have marks.
    bool leaves(job& work, execution_state& execution) {
        if (!work.coordinator.is_late() || std::exchange(execution.leaving, true)) return false;
        work.coordinator.fall_back();
        idle_ = false;
        return true;
    }
    void give_up(job& work, execution_state& execution, error why) {
        if (leaves(work, execution)) return;
        if (work.problem.empty()) work.problem = std::move(why);
        execution.cut = interruption::stopped;
        end(work, execution);
    }

    /// Lets a job rest, longer each time.
    [[gnu::cold, gnu::noinline]] void rest(job& work, execution_state& execution) {
        auto const pause =
            pause_of(work, execution.rests, limits_, environment_.elapsed(), environment_.random());
        note_next_try(work, pause);
        ++execution.rests;
        end_if_late(work, execution);
        if (!execution.over) rest_for(pause.own, work, execution, work.notes_tries);
    }

    /// Has the entry keep the tries of calls, and the time of the next try.
    void note_next_try(job& work, job_pause const& pause) {
        if (!work.notes_tries) return;
        look_at_clock();
        work.next_try = later(now_, std::chrono::ceil<std::chrono::milliseconds>(pause.all));
        notes_tries_ = true;
    }

    /// Lets a job rest until the next try that its entry names.
    [[gnu::cold, gnu::noinline]] void rest_until_next_try(job& work, execution_state& execution) {
        work.awaits_next_try = false;
        if (waits_for_try(work.next_try, now_)) {
            rest_for(work.next_try - now_, work, execution, true);
        }
    }

    /// Shape:   is_whole - a pause that is longer than the caller waits ends the job at once
    void rest_for(std::chrono::nanoseconds pause, job& work, execution_state& execution,
                  bool is_whole) {
        auto const wakes = environment_.elapsed() + pause;
        auto const end = ends_.end_of_rests(work, execution);
        if (is_whole && wakes > end) {
            auto const limit = ends_.limit_of(work, execution);
            return give_up(work, execution,
                           ended_waiting(limit + ", which comes before the next try,"));
        }
        execution.wakes = std::min(wakes, end);
        work.resting = true;
    }

    /// True if the job waits for answers that come later.
    [[nodiscard]] static bool waits(job const& work) {
        return Calls::several_stages && work.waiting != nullptr;
    }

    /// Wakes each job whose rest is over.
    /// Shape:   first - the earliest end of a rest; idle - wait until then
    [[gnu::cold, gnu::noinline]] void wake_at(std::chrono::nanoseconds first, bool idle,
                                              std::span<job> jobs,
                                              std::span<execution_state> executions) {
        auto elapsed = environment_.elapsed();
        if (idle) {
            if (first > elapsed) environment_.pause(first - elapsed, call_.stop);
            // A stop request ends a pause early; every job notices it at its next rest.
            elapsed = call_.stop.stop_requested() ? std::chrono::nanoseconds::max()
                                                  : std::max(first, environment_.elapsed());
            look_at_clock();
        }
        for (std::size_t i = 0; i < jobs.size(); ++i) {
            if (executions[i].over || !jobs[i].resting || waits(jobs[i])) continue;
            if (executions[i].wakes > elapsed && !ends_.stops(executions[i])) continue;
            jobs[i].resting = false;
            jobs[i].failing.wake(elapsed);
            if (must_end_before_calls(jobs[i], executions[i])) {
                end_if_late(jobs[i], executions[i]);
                continue;
            }
            auto& c = jobs[i].coordinator;
            step const taken = c.next();
            if (taken == step::pause) c.resume();
            else if (taken == step::wait) c.look_again();
            else continue;
            watch_.step_taken(taken, jobs[i], executions[i], now_);
        }
    }

    Calls& calls_;
    call_options const& call_;
    stuck_transactions& stuck_;
    hand_over const* finisher_; ///< null if this driver finishes its jobs
    wait_ends<Environment> ends_;
    bool idle_ = false;        ///< no job had a step to take in the last round
    bool notes_tries_ = false; ///< a job of the last wave has tries to note
    twins twins_;
    waiting_jobs<Calls> waiting_;
    bool ordering_ = false; ///< the current wave keeps the order of its window
    window_order<typename order_rules_of<Environment>::type> order_;
};

} // namespace detail
SETTLE_END
