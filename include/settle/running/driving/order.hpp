// SPDX-License-Identifier: BSL-1.0
// Keeps the order of a window among transactions that share a record.
//
// An apply wave sends all jobs of a window at once, in their order. A job that fails on a record
// with the pending mark of an earlier job may succeed after that job has ended, so the failed job
// is requeued: it is sent again later. Later jobs on the same record are requeued with it and do
// not overtake. A job that is applied beside pending marks goes on: its guards hold for every
// outcome of the earlier jobs (escrow).
//
// A one-phase job leaves no mark, so no job can be requeued after it. It is sent once no earlier
// job with its id or one of its records is left; inside a wave, one_phase_order (one_phase.hpp)
// keeps the order.
#pragma once

#include <settle/base/hash_index.hpp>
#include <settle/running/driving/job.hpp>
#include <settle/running/driving/order_rules.hpp>

#include <algorithm>
#include <functional>
#include <utility>

SETTLE_BEGIN
namespace detail {

/// A set of hashes.
class hash_set {
public:
    void clear() noexcept { index_.clear(); }
    [[nodiscard]] bool empty() const noexcept { return index_.empty(); }
    [[nodiscard]] bool contains(std::uint64_t hash) const {
        return index_.find(hash, [](std::size_t) { return true; }) != nullptr;
    }
    [[nodiscard]] bool contains_any(std::vector<std::uint64_t> const& hashes) const {
        return std::any_of(hashes.begin(), hashes.end(),
                           [&](std::uint64_t hash) { return contains(hash); });
    }
    void insert(std::uint64_t hash) {
        if (!contains(hash)) index_.insert(hash, 0);
    }
    void insert_all(std::vector<std::uint64_t> const& hashes) {
        for (auto const hash : hashes) insert(hash);
    }

private:
    hash_index index_;
};

/// Computes a hash for the target of each part of a job. Two targets with one hash only cause a
/// needless wait. A target that no other job shares has the hash of the job's id.
inline void record_hashes(job const& work, std::vector<std::uint64_t>& hashes) {
    hashes.clear();
    work.type->for_each_part(
        work.parameters, [&](part_descriptor const& part, std::size_t line, std::size_t) {
            auto const seed = reinterpret_cast<std::uintptr_t>(part.target);
            if (!part.kind->shared) {
                hashes.push_back(hash_mix(seed, std::hash<transaction_id>{}(work.id)));
                return;
            }
            hashes.push_back(std::visit(
                [&]<typename Key>(Key const& key) { return hash_mix(seed, std::hash<Key>{}(key)); },
                part.key(work.parameters, line)));
        });
}

/// Computes the hashes of a one-phase job's records and of its entry. The entry counts because the
/// first job with an id decides the meaning of the id.
inline void one_phase_hashes(job const& work, std::vector<std::uint64_t>& hashes) {
    record_hashes(work, hashes);
    hashes.push_back(hash_mix(0, std::hash<transaction_id>{}(work.id)));
}

/// The order of the jobs of one window. Before a wave the driver calls begin(), then backs_off()
/// and must_wait() for the jobs in their order. After the wave it calls begin_answers(), after an
/// apply also begin_rulings(), and then ruling_of() and stalls() for the jobs in their order.
/// Shape:   Rules - order_rules, or a subset for a search
template <typename Rules>
class record_order {
public:
    void begin() {
        blocked_.clear();
        pending_.clear();
        paused_.clear();
    }

    /// Keeps other jobs, also the job that it backs off from, away from the records of a job that
    /// backs off and may still have marks.
    void backs_off(job const& work) {
        if (!Rules::backs_off_first) return;
        record_hashes(work, records_);
        blocked_.insert_all(records_);
    }

    /// True if a job waits for an earlier job of its window that shares a record: an earlier job
    /// without effect that is held up from outside the window, a resting job after which this job
    /// was requeued, or any earlier job if the effect on the record is exclusive. A one-phase job
    /// waits until the earlier job has ended, since it cannot be requeued after a pending mark.
    /// Shape:   due - the job takes part in this wave; other jobs only count for later jobs;
    ///          held_up, requeued - when the job was last sent
    [[nodiscard]] bool must_wait(step wave, job const& work, bool due, bool held_up,
                                 bool requeued) {
        bool const no_record_is_kept = exclusive_.empty() && blocked_.empty() && paused_.empty();
        if (due && !held_up && no_record_is_kept) return false;
        find_records(wave, work);
        bool const meets_earlier = blocked_.contains_any(records_) ||
                                   pending_.contains_any(records_) ||
                                   (requeued && paused_.contains_any(records_));
        bool const is_fixed = cannot_be_requeued(work);
        bool const waits = due ? !is_fixed && meets_earlier
                               : !is_fixed || meets_earlier || wave == step::one_phase;
        if (work.resting && has_marks(work)) paused_.insert_all(records_);
        if (Rules::waits_with && (waits || (due && held_up))) blocked_.insert_all(records_);
        for (auto const record : records_) {
            if (!exclusive_.contains(record)) continue;
            pending_.insert(record);
            if (waits) still_exclusive_.insert(record);
        }
        return waits;
    }

    /// False if the job has left `pending`, or may have called a stage after its records: then its
    /// applied parts stay as they are until confirm or undo.
    [[nodiscard]] static bool may_be_requeued(job const& work) {
        auto const current = work.coordinator.state();
        return (current == state::initial || current == state::pending) &&
               work.coordinator.may_start_over();
    }

    void begin_answers() { stalled_.clear(); }

    void begin_rulings() {
        blocked_.clear();
        pending_.clear();
        // Forget exclusive records that no job waits for, until a conflict shows them again.
        std::swap(exclusive_, still_exclusive_);
        still_exclusive_.clear();
    }

    enum class ruling : std::uint8_t {
        proceeds, ///< it takes its next step
        requeued, ///< it is sent again after earlier jobs of its window
        held_up   ///< by marks from outside its window, or by an unreachable store
    };

    /// How a job goes on after an apply wave.
    /// Shape:   due - the job took part in the wave; other jobs only count for later jobs
    [[nodiscard]] ruling ruling_of(job const& work, bool due) {
        record_hashes(work, records_);
        if (cannot_be_requeued(work)) {
            if (has_marks(work)) pending_.insert_all(records_);
            return ruling::proceeds;
        }
        if (!due) {
            blocked_.insert_all(records_);
            return ruling::proceeds;
        }
        bool const requeued = follows_earlier(work);
        bool const fenced = has_answer(work, answer::fenced);
        bool const has_failed = requeued || fenced || has_answer(work, answer::unavailable) ||
                                has_answer(work, answer::unknown) ||
                                has_answer(work, answer::busy) ||
                                has_answer(work, answer::other_call);
        for (std::size_t part = 0; part < records_.size(); ++part) {
            if (has_failed) blocked_.insert(records_[part]);
            else if (answer_of(work, part) == answer::applied) pending_.insert(records_[part]);
        }
        if (!requeued) return has_failed ? ruling::held_up : ruling::proceeds;
        // A fenced job first has to find out the state of its entry.
        return fenced ? ruling::proceeds : ruling::requeued;
    }

    /// True if a job makes no progress: marks or a store outside its window hold it up, or it waits
    /// for an earlier job that makes no progress.
    /// Shape:   held_up - this job itself, from outside the window
    [[nodiscard]] bool stalls(step wave, job const& work, bool held_up) {
        if (!held_up && stalled_.empty()) return false;
        find_records(wave, work);
        if (!held_up && !stalled_.contains_any(records_)) return false;
        stalled_.insert_all(records_);
        return true;
    }

private:
    /// Computes the records that a job shares with other jobs in a wave.
    void find_records(step wave, job const& work) {
        if (wave == step::one_phase) one_phase_hashes(work, records_);
        else record_hashes(work, records_);
    }

    /// True if a job is to be sent again after earlier jobs: it failed on one of their pending
    /// marks, or it shares a record with a job that is requeued or held up.
    [[nodiscard]] bool follows_earlier(job const& work) {
        bool follows = Rules::requeues_with && blocked_.contains_any(records_);
        for (std::size_t part = 0; Rules::requeues && part < records_.size(); ++part) {
            bool const is_busy = answer_of(work, part) == answer::busy;
            bool const may_succeed_later = is_busy || may_hold_later(answer_of(work, part));
            if (!may_succeed_later || !pending_.contains(records_[part])) continue;
            follows = true;
            if (is_busy) exclusive_.insert(records_[part]);
        }
        return follows;
    }

    static bool cannot_be_requeued(job const& work) { return !may_be_requeued(work); }

    /// True if the job has marks to finish or undo; without marks only its close is left.
    static bool has_marks(job const& work) {
        return cannot_be_requeued(work) && work.coordinator.next() != step::close;
    }

    /// True if the answer may change when the pending transactions have ended.
    static bool may_hold_later(answer reply) {
        return reply == answer::guard_failed || reply == answer::overflow ||
               reply == answer::record_missing || reply == answer::record_exists;
    }

    static answer answer_of(job const& work, std::size_t part) {
        return work.coordinator.answer_of(part);
    }
    [[nodiscard]] bool has_answer(job const& work, answer reply) const {
        for (std::size_t part = 0; part < records_.size(); ++part) {
            if (answer_of(work, part) == reply) return true;
        }
        return false;
    }

    hash_set blocked_;         ///< records of jobs that back off, or have taken no effect yet
    hash_set pending_;         ///< records that earlier jobs of the window have marked
    hash_set paused_;          ///< records in pending_ whose earlier jobs rest
    hash_set exclusive_;       ///< records with an exclusive effect, as a busy answer showed
    hash_set still_exclusive_; ///< records of exclusive_ for which a job of this wave waits
    hash_set stalled_;         ///< records of jobs without progress
    std::vector<std::uint64_t> records_; ///< of the job that is looked at
};

} // namespace detail
SETTLE_END
