// SPDX-License-Identifier: BSL-1.0
// Decides one-phase transactions inside their native transaction.
#pragma once

#include <settle/running/construction/options.hpp>
#include <settle/running/driving/order.hpp>

#include <cstddef>
#include <optional>

SETTLE_BEGIN
namespace detail {

/// Keeps the order of the one-phase jobs of a wave. A job settles inside the native transaction,
/// unless it is busy, or its entry exists and is not final: then it goes on afterwards. A later job
/// that shares its id or a record must not overtake it, and waits. A job whose entry is final
/// changes no record, so no job waits for it.
class one_phase_order {
public:
    /// True if a job waits for an earlier job of its wave that has not settled.
    /// Shape:   requests come in the order of their jobs; all or some come again when the native
    ///          transaction is repeated, and a request comes twice in a row when its decision is
    ///          repeated
    [[nodiscard]] bool must_wait(one_phase_request const& request, job const& work);

private:
    struct decision {
        std::size_t index; ///< of the job in its window
        one_phase_request const* request;
        job const* work;
    };

    /// Holds back the jobs after the previous job, unless that has settled. If the current job is
    /// not a later job, the native transaction is repeated, and the decisions begin anew.
    void look_at_previous(decision const& current);
    /// Holds back the jobs after each unsettled job below `end` whose entry exists: a repeated
    /// native transaction may leave such a job out.
    void hold_back_after_entries(std::size_t end);
    /// Makes later jobs wait that share a record or the id with this job.
    void hold_back_after(decision const& holder);
    /// A job whose id was in use gets another id, and has not settled.
    static bool has_settled(decision const& decision);

    std::vector<decision> decisions_; ///< since the native transaction began
    hash_index held_records_;         ///< records of unsettled jobs, with the job's index
    std::vector<std::uint64_t> hashes_;
};

/// The jobs of a window that have not ended, beside a wave of joined commits. Usually there are
/// none.
class jobs_beside_commits {
public:
    explicit jobs_beside_commits(std::span<job const> jobs);

    /// True if a job has to wait for an earlier one that shares a record: that has not committed
    /// and is not in this wave; or that has marks, if a part was refused, which may be applied once
    /// it has ended.
    /// Shape:   joins - no part of the job was refused
    [[nodiscard]] bool precede(job const& work, bool joins) const;

private:
    std::vector<job const*> jobs_; ///< in their order
};

/// Copies of jobs, with copies of their parameters.
class copied_jobs {
public:
    explicit copied_jobs(std::span<job const> from);
    ~copied_jobs();
    copied_jobs(copied_jobs const&) = delete;
    copied_jobs& operator=(copied_jobs const&) = delete;
    [[nodiscard]] std::span<job> jobs() { return jobs_; }

private:
    std::vector<job> jobs_;
    std::vector<std::unique_ptr<std::max_align_t[]>> memory_;
};

/// Stops the process unless every part was applied: an entry that says `done` without an effect
/// would be a wrong outcome that nobody sees.
void require_applied(std::span<part_result const> results);

/// The decision for the jobs of one wave. The age is checked inside the native transaction, so that
/// nothing comes between the check and the commit.
template <typename Environment>
class one_phase_decision final : public one_phase_decider {
public:
    /// Shape:   keeps_order - the wave has several jobs, whose order counts; joins - it is of
    /// joined
    ///          commits, which keep their order also behind jobs that are not in the wave
    one_phase_decision(std::span<job> jobs, Environment const& environment, options const& limits,
                       bool keeps_order, bool joins)
        : jobs_(jobs), environment_(environment), attempts_(limits.attempts),
          lifetime_(limits.lifetime), clocks_(limits.clocks), keeps_order_(keeps_order) {
        if (keeps_order && joins) others_.emplace(jobs);
    }

    bool decide(one_phase_request& request) override {
        job& work = jobs_[request.index];
        if (commits(work.coordinator.next())) return decide_to_join(request, work);
        for (std::size_t index = 0; index < request.parts.size(); ++index) {
            part_request const& part = request.parts[index];
            work.take(index, part.part, *part.descriptor, request.results[index]);
        }
        if (must_wait(request, work)) {
            work.coordinator.clear_decision();
            return false;
        }
        if (!work.coordinator.decide_one_phase(attempts_, is_expired(work))) return false;
        request.write = write_of<step::one_phase>(work);
        request.write.last_moment = later(work.created, lifetime_);
        bool const is_done = request.write.change.to == state::done;
        if (is_done && !request.left_out) require_applied(request.results);
        return true;
    }

    [[nodiscard]] std::shared_ptr<one_phase_decider> copy() const override {
        auto copied = std::make_shared<one_phase_decision>(std::span<job>{},
                                                           own_copy_of(environment_), *this);
        copied->copies_ = std::make_unique<copied_jobs>(jobs_);
        copied->jobs_ = copied->copies_->jobs();
        if (others_) copied->others_.emplace(copied->jobs_);
        return copied;
    }

    one_phase_decision(std::span<job> jobs, Environment const& environment,
                       one_phase_decision const& like)
        : jobs_(jobs), environment_(environment), attempts_(like.attempts_),
          lifetime_(like.lifetime_), clocks_(like.clocks_), keeps_order_(like.keeps_order_) {}

private:
    using rules = typename order_rules_of<Environment>::type;

    [[nodiscard]] bool must_wait(one_phase_request const& request, job const& work) {
        return rules::one_phase_waits && keeps_order_ && order_.must_wait(request, work);
    }

    /// Decides a joined commit: the request has the parts in the log's own store, and all other
    /// parts are applied.
    bool decide_to_join(one_phase_request& request, job& work) {
        std::size_t joined = 0;
        work.type->for_each_part(work.parameters, [&](part_descriptor const& part, std::size_t line,
                                                      std::size_t number) {
            bool const is_joined = joined < request.parts.size() &&
                                   request.parts[joined].descriptor == &part &&
                                   request.parts[joined].part.line == line;
            if (!is_joined) return work.coordinator.answered(number, answer::applied);
            work.take(number, request.parts[joined].part, part, request.results[joined]);
            ++joined;
        });
        bool const joins = work.coordinator.may_join();
        work.follows_earlier = must_wait(request, work) ||
                               (others_ && rules::requeues && others_->precede(work, joins));
        if (work.follows_earlier) return false;
        if (work.coordinator.next() == step::decide) return decide_late(request, work);
        if (!joins) return false;
        request.write = write_of<step::commit>(work);
        return true;
    }

    /// Decides a late entry.
    bool decide_late(one_phase_request& request, job& work) {
        auto& c = work.coordinator;
        bool const asks_again = !request.left_out && c.must_ask_again();
        if (asks_again || !c.decide_one_phase(attempts_, is_expired(work))) return false;
        request.write = write_of<step::decide>(work);
        request.write.last_moment = later(work.created, lifetime_);
        if (c.why() == reason::none && !request.left_out) require_applied(request.results);
        return true;
    }

    [[nodiscard]] bool is_expired(job const& work) const {
        return age_of(work.created, environment_.now(), clocks_) > lifetime_;
    }

    std::span<job> jobs_;
    std::optional<jobs_beside_commits> others_; ///< of joined commits of several jobs
    Environment environment_; ///< a copy: a copied decision may outlive the engine
    std::uint32_t attempts_;
    std::chrono::milliseconds lifetime_;
    std::chrono::milliseconds clocks_;
    bool keeps_order_;
    one_phase_order order_;
    std::unique_ptr<copied_jobs> copies_; ///< only of a copied decision
};

} // namespace detail

SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/running/driving/one_phase.ipp>
#endif
