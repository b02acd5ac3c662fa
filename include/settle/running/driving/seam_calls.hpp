// SPDX-License-Identifier: BSL-1.0
// The driver's calls through the seam: it makes part requests and entry writes from jobs, and takes
// the answers. Nothing here depends on a transaction type, a store or a log.
#pragma once

#include <settle/kinds/services/service.hpp>
#include <settle/running/construction/options.hpp>
#include <settle/running/driving/caller_limits.hpp>
#include <settle/running/driving/job.hpp>
#include <settle/running/driving/ports.hpp>

SETTLE_BEGIN
namespace detail {

class store_wave; // driving/store_waves.hpp

/// Makes the part requests of jobs.
[[nodiscard]] part_request request_of(job const& work, part_descriptor const& part,
                                      std::size_t line, step action, time_limit lifetime);

class seam_calls {
public:
    /// Shape:   lifetime - of the engine's transactions; call - the caller's limits
    seam_calls(engine_ports const& ports, time_limit lifetime, call_options const& call);
    seam_calls(seam_calls&& other) noexcept;
    ~seam_calls();

    static constexpr bool takes_no_time = false;
    static constexpr bool one_phase = true;
    static constexpr bool several_stages = true;
    static constexpr bool one_at_a_time = false;

    /// Nothing is compiled for each direction.
    struct typed {};
    template <typename Direction>
    static constexpr typed const& of() noexcept {
        return nothing_typed;
    }

    template <step Step>
    void write(std::span<job> jobs, write_context const& context) {
        write_each<Step>(jobs, context, [](job const&) { return true; });
    }

    /// Writes the tries of jobs into their entries. A job whose entry another worker has claimed
    /// reads it next. A write that is lost is not repeated: the next try is noted, too.
    void note_tries(std::span<job> jobs, write_context const& context);

    /// Calls `found(job, result<std::optional<entry>>, same)` for each job that reads.
    void look_up(std::span<job> jobs,
                 function_view<void(job&, result<std::optional<entry>>&&, bool)> found);

    /// Has the stores execute the due parts of all jobs that take a step, side by side where they
    /// can. A job with parts that a store answers later has job::waiting then. If it takes the step
    /// again, its answers are taken.
    /// Returns: true if there is such a job
    bool execute(step action, std::span<job> jobs, typed const&);
    /// True if a store may lose confirms until it is forced.
    [[nodiscard]] bool confirms_lazily() const;
    /// Forces the stores of all jobs that take step::force, and sets their job::is_forced.
    void force(std::span<job> jobs);
    /// True if the job waits, and has all answers.
    [[nodiscard]] static bool is_answered(job const& work);
    /// True if the job has all answers. If it waited behind a wave that is over, it waits no more.
    [[nodiscard]] static bool has_answers(job& work);
    /// Gives up what a job waits for: then it has all answers.
    /// Shape:   limit - that ended the wait, as the subject of a sentence
    static void give_up(job& work, std::string_view limit);
    /// Tells of answers that come later, and of new jobs.
    [[nodiscard]] answer_signal& signal() const { return *signal_; }
    /// Has waits end when new jobs come.
    /// Shape:   source - outlives the object. The signal tells of its changes
    void watch(std::shared_ptr<answer_signal> signal, job_source const& source);
    [[nodiscard]] job_source const* source() const noexcept { return source_; }

    /// From now on stores wait no longer than this.
    /// Shape:   limits - copied
    void limit(wait_limits const& limits) { limits_ = limits; }

    /// True if a transaction of this type may apply its parts before it has an entry: all parts are
    /// records, of stores whose marks keep births.
    [[nodiscard]] bool begins_late(transaction_descriptor const& type) const;

    /// Commits the jobs that take the step. A job that joins parts to its commit commits in the
    /// log's own store, in one native transaction with these parts.
    /// Shape:   Step - commit, or decide, which inserts late entries
    template <step Step>
    void commit(std::span<job> jobs, write_context const& context, one_phase_decider& decider) {
        static_assert(commits(Step));
        if (Step == step::decide) decide_alone(jobs, context, decider);
        else write_each<Step>(jobs, context, [&](job const& work) { return !joins_parts(work); });
        join_parts(Step, jobs, context, decider);
    }

    /// Settles the jobs that take step::one_phase, in the only store.
    void settle(std::span<job> jobs, write_context const& context, one_phase_decider& decider);

private:
    class running;

    void request_parts(job& work, step action);
    /// True if the job's parts are to be sent now. Otherwise it waits for answers, or for the end
    /// of an earlier wave to one of their stores; or it was given up, and has its answers.
    [[nodiscard]] bool may_send(job& work, step action);
    /// Answers the due parts of a job that was given up before they were sent.
    void deny(job& work);
    /// Calls `function(part, line, number)` for each due part that the commit does not join.
    template <typename Function>
    void for_each_due(job const& work, Function&& function) const;
    /// Has the jobs of a wave wait for its end, while the others go on.
    /// Shape:   failed - jobs with parts elsewhere that were not applied, sorted; they do not wait
    void leave(std::size_t store, step action, std::vector<job*> const& failed);
    /// The last wave of a step to a store that its jobs have left, or null.
    [[nodiscard]] std::shared_ptr<store_wave>& left_wave(std::size_t store, step action);
    /// Forgets the left waves that are over.
    void note_ended_waves();
    /// True if the other jobs need not wait for the end of a wave.
    /// Shape:   jobs - all of the window
    [[nodiscard]] bool may_be_left(std::size_t store, std::size_t jobs) const;
    [[nodiscard]] store_wave& wave_of(std::size_t store);
    /// Has signal() and `started_`.
    void expect_answers();
    /// True if the store may lose a confirm of this part until it is forced.
    [[nodiscard]] bool may_lose_confirm(job const& work, part_descriptor const& part) const {
        return work.coordinator.confirms_lazily() && !is_joined(work, part) &&
               ports_.stores[store_of(part)]->capabilities().confirms_lazily;
    }
    /// Answers a call in place of its service if a person has paused it.
    [[nodiscard]] bool is_paused(job& work, part_descriptor const& part, std::size_t line,
                                 std::size_t number) const;
    /// Takes the answers for which a job waits.
    void go_on(job& work);

    /// Writes the entries of the jobs that take a step and are chosen.
    template <step Step, typename Chosen>
    void write_each(std::span<job> jobs, write_context const& context, Chosen&& is_chosen) {
        writes_.clear();
        writers_.clear();
        for (job& work : jobs) {
            if (!work.takes(Step) || !is_chosen(work)) continue;
            writes_.push_back(write_of<Step>(work));
            if (Step == step::insert) {
                writes_.back().last_moment = later(work.created, lifetime_);
            }
            writers_.push_back(&work);
        }
        write_all(context);
    }

    void join_parts(step action, std::span<job> jobs, write_context const& context,
                    one_phase_decider& decider);
    /// Inserts the late entries of jobs that have no part in the log's own store.
    void decide_alone(std::span<job> jobs, write_context const& context,
                      one_phase_decider& decider);
    /// True if the job leaves a part to its commit.
    [[nodiscard]] bool joins_parts(job const& work) const {
        auto const& parts = work.type->participants;
        return std::any_of(parts.begin(), parts.end(),
                           [&](part_descriptor const& part) { return is_joined(work, part); });
    }
    /// True if the job leaves the part to its commit.
    [[nodiscard]] bool is_joined(job const& work, part_descriptor const& part) const {
        return work.coordinator.joins() && store_of(part) == ports_.own_store;
    }
    /// Settles jobs in one store.
    /// Shape:   settles(job) - chooses the jobs; has(job, part) - chooses their parts
    void settle(std::span<job> jobs, std::size_t store, write_context const& context,
                one_phase_decider& decider, function_view<bool(job const&)> settles,
                function_view<bool(job const&, part_descriptor const&)> has);

    /// Reports an answered call of a store.
    void note_call(std::size_t store, step taken, std::chrono::nanoseconds begun,
                   std::span<part_result const> results) const;

    /// An engine binds every target of its types.
    [[nodiscard]] std::size_t store_of(part_descriptor const& part) const;

    void write_all(write_context const& context);
    void send_writes(write_context const& context);

    static constexpr typed nothing_typed{};

    engine_ports ports_;
    time_limit lifetime_;
    wait_limits limits_;
    std::vector<entry_write> writes_;
    std::vector<write_result> results_;
    std::vector<job*> writers_;                      ///< the jobs of the writes or reads
    std::vector<std::shared_ptr<store_wave>> waves_; ///< one for each store; null if not used yet
    /// For each store and step the last wave that its jobs have left, or null. A step has waves of
    /// its own, so that new work does not keep other transactions from their ends.
    std::vector<std::shared_ptr<store_wave>> left_;
    std::vector<bool> is_slow_; ///< by store: its last wave was left and took too long
    /// What each store has begun in the current step, and the signal of its answers; null and empty
    /// if no store answers later, and no wave was left.
    std::shared_ptr<answer_signal> signal_;
    std::vector<started_parts> started_;
    job_source const* source_ = nullptr; ///< of new jobs
};

} // namespace detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/running/driving/seam_calls.ipp>
#include <settle/running/driving/seam_waves.ipp>
#endif
