// SPDX-License-Identifier: BSL-1.0
// Drives jobs to their ends against a log and its stores, one or thousands side by side. A job is a
// transaction with its coordinator, which chooses the next step of the protocol.
#pragma once

#include <settle/running/driving/progress.hpp>

SETTLE_BEGIN

/// Shape:   Calls - detail::container_calls or detail::seam_calls
/// Cost:    a round of a whole window is an insert, an apply wave, a commit, a confirm wave and a
///          close, each a single call, without contention or failures; in one phase it is one call.
///          Each further stage is another round, with a keep, an apply wave and a confirm wave
template <typename Calls, typename Environment, typename Observer>
class driver {
public:
    driver(Calls calls, Environment const& environment, Observer& observer, options const& limits,
           std::string const& owner, call_options const& call, detail::stuck_transactions& stuck,
           phases how, bool keeps_at_insert, detail::hand_over const* finisher = nullptr)
        : calls_(std::move(calls)), how_(how), keeps_at_insert_(keeps_at_insert),
          progress_(calls_, environment, observer, limits, owner, call, stuck, finisher) {}
    driver(driver const&) = delete;
    driver& operator=(driver const&) = delete;

    /// One phase or two, for transactions that are taken over here.
    [[nodiscard]] phases how() const { return how_; }
    /// The same for transactions that begin here.
    [[nodiscard]] phases how_begins([[maybe_unused]] transaction_descriptor const& type) const {
        if constexpr (Calls::one_phase) {
            if (how_ == phases::late && !calls_.begins_late(type)) return phases::joined;
        }
        return how_;
    }
    /// The stages of a transaction that begins here.
    [[nodiscard]] stage_plan stages_of(transaction_descriptor const& type) const {
        stage_plan made = type.stages;
        made.keeps_at_insert = made.keeps_at_insert && keeps_at_insert_;
        return made;
    }
    [[nodiscard]] timestamp time() const { return progress_.time(); }
    /// Of the call that the driver works for.
    [[nodiscard]] std::string_view traceparent() const { return progress_.traceparent(); }
    /// Reads the clock before a new job, when the last job ended a while ago.
    void look_at_clock() { progress_.look_at_clock(); }
    [[nodiscard]] bool late() const { return progress_.late(); }
    /// The limits of the call from now on.
    [[nodiscard]] call_options rest() const { return progress_.rest(); }
    /// The observer's first exception; the transactions go on to their ends.
    [[nodiscard]] std::exception_ptr const& thrown() const noexcept { return progress_.thrown(); }
    /// Rethrows that exception after the transactions have ended.
    void rethrow() const {
        if constexpr (!std::is_same_v<Observer, no_observer>) {
            if (thrown()) std::rethrow_exception(thrown());
        }
    }
    /// The next round has a job that was in no round before.
    void note_new_job() { progress_.note_new_job(); }
    /// Gives a job up that rests before its next calls.
    void end_resting(job& work, execution_state& execution) {
        progress_.end_resting(work, execution);
    }
    /// Has waits end when new jobs come; see seam_calls.
    void watch(std::shared_ptr<detail::answer_signal> signal, job_source const& source) {
        calls_.watch(std::move(signal), source);
    }
    /// Has stores wait no longer than this from now on.
    void limit(wait_limits const& limits) { calls_.limit(limits); }
    /// True if a read before an insert can save time: an insert of an existing id costs more than
    /// a read, except in a log of this process.
    static constexpr bool may_look_first = !Calls::takes_no_time;
    /// True if a caller's id is read before it is inserted, since the last reads found entries.
    [[nodiscard]] bool looks_first() const { return may_look_first && progress_.finds_entries(); }

    /// The calls that are compiled for each direction.
    using typed_calls = typename Calls::typed;
    template <typename Direction>
    static constexpr auto& calls_of() noexcept {
        return Calls::template of<Direction>();
    }

    /// Drives one job until it ends or is interrupted.
    /// Shape:   typed - of the job's direction; follows - wait for another owner (a caller does,
    ///          recovery does not)
    interruption drive(job& work, execution_state& execution, bool follows,
                       typed_calls const& typed);

    /// Takes every step once, in the order of the protocol, for the jobs that need it. A job
    /// without conflict or failure ends in one round. If every job rests, the round waits first.
    /// Shape:   jobs that share a record keep the order of the span; typed - of all jobs' direction
    void round(std::span<job> jobs, std::span<execution_state> executions, bool follows,
               typed_calls const& typed);

    /// Takes the next step of one job, if it does not rest.
    void advance(job& work, execution_state& execution, typed_calls const& typed);

    /// Reads the entries of jobs that begin with a read, and takes no other step.
    void look(std::span<job> jobs, std::span<execution_state> executions);

private:
    /// Shape:   Count - 1 for a single job, which needs no order of a window
    template <std::size_t Count>
    void take_steps(std::span<job, Count> jobs, std::span<execution_state, Count> executions,
                    bool follows, typed_calls const& typed) {
        detail::jobs_side_by_side<Count> const group{jobs, executions, follows};
        // The last round of a window may be long ago; a single job is new.
        if constexpr (Count != 1) look_at_clock();
        progress_.wake(group);
        if constexpr (Calls::one_phase) settle_in_one_phase(group);
        ask_log<step::insert>(group);
        ask_log<step::read>(group);
        ask_log<step::claim>(group);
        ask_stores<step::apply>(group, typed);
        ask_stores<step::back_off>(group, typed);
        if constexpr (Calls::several_stages) ask_log<step::keep>(group);
        if constexpr (Calls::one_phase) {
            if (how_ == phases::late) decide(group);
            commit(group);
        } else {
            ask_log<step::commit>(group);
        }
        if constexpr (Calls::several_stages) ask_log<step::commit_and_close>(group);
        ask_log<step::cancel>(group);
        ask_stores<step::confirm>(group, typed);
        force(group);
        ask_stores<step::compensate>(group, typed);
        ask_log<step::close>(group);
    }

    template <step Step, std::size_t Count>
    [[gnu::always_inline]] void ask_log(detail::jobs_side_by_side<Count> const& group) {
        if (!progress_.template begin<Step>(group)) return;
        if constexpr (Step == step::read) progress_.read(group);
        else calls_.template write<Step>(group.jobs, progress_.now());
        // The age of an inserted or claimed entry counts from its acknowledgement.
        constexpr bool gives_right = Step == step::insert || Step == step::claim;
        if constexpr (gives_right && !Calls::takes_no_time) look_at_clock();
        progress_.template end<Step>(group);
    }

    template <step Step, std::size_t Count>
    [[gnu::always_inline]] void ask_stores(detail::jobs_side_by_side<Count> const& group,
                                           typed_calls const& typed) {
        bool const any = progress_.template begin<Step>(group);
        if constexpr (Calls::several_stages) {
            if (any && calls_.execute(Step, group.jobs, typed)) progress_.let_wait(group);
        } else {
            if (any) calls_.execute(Step, group.jobs, typed);
        }
        // end() also handles the jobs that the window's order keeps back.
        bool const ordered = Step == step::apply && Count != 1;
        if (any || ordered) progress_.template end<Step>(group);
        if constexpr (Calls::several_stages) {
            if (progress_.notes_tries()) calls_.note_tries(group.jobs, progress_.now());
        }
    }

    /// Has the stores keep the confirms that they may lose, so that the entries can be closed.
    template <std::size_t Count>
    void force(detail::jobs_side_by_side<Count> const& group) {
        if constexpr (Calls::several_stages) {
            if (!progress_.template begin<step::force>(group)) return;
            calls_.force(group.jobs);
            progress_.template end<step::force>(group);
        }
    }

    template <std::size_t Count>
    void commit(detail::jobs_side_by_side<Count> const& group) {
        bool const joins = how_ == phases::joined || how_ == phases::late;
        if (joins) join<step::commit>(group);
        else ask_log<step::commit>(group);
    }
    /// Commits with the parts in the log's own store, in one native transaction.
    template <step Step, std::size_t Count>
    void join(detail::jobs_side_by_side<Count> const& group) {
        if (!progress_.template begin<Step>(group)) return;
        auto decision = progress_.decision_to_join(group.jobs);
        calls_.template commit<Step>(group.jobs, progress_.now(), decision);
        progress_.template end<Step>(group);
    }
    /// Inserts the late entries.
    template <std::size_t Count>
    void decide(detail::jobs_side_by_side<Count> const& group) {
        join<step::decide>(group);
        ask_log<step::refuse>(group);
    }

    template <std::size_t Count>
    void settle_in_one_phase(detail::jobs_side_by_side<Count> const& group) {
        bool const any = progress_.template begin<step::one_phase>(group);
        if (any) {
            auto decision = progress_.decision(group.jobs);
            calls_.settle(group.jobs, progress_.now(), decision);
            look_at_clock();
        }
        if (any || Count != 1) progress_.template end<step::one_phase>(group);
    }

    Calls calls_;
    phases how_;
    bool keeps_at_insert_; ///< the log takes inserts that keep a stage
    detail::progress<Calls, Environment, Observer> progress_;
};

// Defined outside of the class, so that the compiled part can hold them: see seam_driver.hpp.

template <typename Calls, typename Environment, typename Observer>
interruption driver<Calls, Environment, Observer>::drive(job& work, execution_state& execution,
                                                         bool follows, typed_calls const& typed) {
    // A version for one job pays only where a call costs less than the version saves.
    constexpr std::size_t count = Calls::one_at_a_time ? 1 : std::dynamic_extent;
    while (!execution.over) {
        take_steps(std::span<job, count>{&work, 1},
                   std::span<execution_state, count>{&execution, 1}, follows, typed);
    }
    return execution.cut;
}

template <typename Calls, typename Environment, typename Observer>
void driver<Calls, Environment, Observer>::round(std::span<job> jobs,
                                                 std::span<execution_state> executions,
                                                 bool follows, typed_calls const& typed) {
    take_steps(jobs, executions, follows, typed);
}

template <typename Calls, typename Environment, typename Observer>
void driver<Calls, Environment, Observer>::advance(job& work, execution_state& execution,
                                                   typed_calls const& typed) {
    detail::jobs_side_by_side<std::dynamic_extent> const group{std::span{&work, 1},
                                                               std::span{&execution, 1}, true};
    look_at_clock();
    progress_.wake(group);
    if (execution.over || work.resting) return;
    switch (work.coordinator.next()) {
    case step::one_phase: return settle_in_one_phase(group);
    case step::insert: return ask_log<step::insert>(group);
    case step::read: return ask_log<step::read>(group);
    case step::claim: return ask_log<step::claim>(group);
    case step::apply: return ask_stores<step::apply>(group, typed);
    case step::back_off: return ask_stores<step::back_off>(group, typed);
    case step::keep: return ask_log<step::keep>(group);
    case step::decide:
    case step::refuse: return decide(group);
    case step::commit: return commit(group);
    case step::commit_and_close: return ask_log<step::commit_and_close>(group);
    case step::cancel: return ask_log<step::cancel>(group);
    case step::confirm: return ask_stores<step::confirm>(group, typed);
    case step::force: return force(group);
    case step::compensate: return ask_stores<step::compensate>(group, typed);
    case step::close: return ask_log<step::close>(group);
    case step::pause:
    case step::wait:
    case step::end: return;
    }
}

template <typename Calls, typename Environment, typename Observer>
void driver<Calls, Environment, Observer>::look(std::span<job> jobs,
                                                std::span<execution_state> executions) {
    ask_log<step::read>(detail::jobs_side_by_side<std::dynamic_extent>{jobs, executions, true});
}

SETTLE_END
