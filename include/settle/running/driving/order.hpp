// SPDX-License-Identifier: BSL-1.0
// Keeps the order of a window among transactions that share a record.
//
// An apply wave sends all jobs of a window at once, in order. A job that fails on a record with the
// pending mark of an earlier job might succeed after the earlier job has ended. So the failed job
// is requeued: it is sent again later. Later jobs on the same record are requeued, too, and do not
// overtake. A job that is applied beside pending marks may go on: its guards hold for every outcome
// of the earlier jobs (escrow).
//
// A one-phase job leaves no mark, so no job is requeued after it. It is sent when no earlier job
// with the same id or record is left; inside a wave, one_phase_order (one_phase.hpp) keeps the
// order.
#pragma once

#include <settle/base/hash_index.hpp>
#include <settle/running/driving/job.hpp>

#include <functional>

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
    void insert(std::uint64_t hash) {
        if (!contains(hash)) index_.insert(hash, 0);
    }

private:
    hash_index index_;
};

/// The records and other targets of a job as hashes, one for each part. Two targets with the same
/// hash only cause a needless wait. A target that no other job shares has the hash of the job's id.
inline void record_hashes(job const& work, std::vector<std::uint64_t>& into) {
    into.clear();
    work.type->for_each_part(work.parameters, [&](part_descriptor const& one, std::size_t line,
                                                  std::size_t) {
        auto const seed = reinterpret_cast<std::uintptr_t>(one.target);
        if (!one.kind->shared) {
            into.push_back(hash_mix(seed, std::hash<transaction_id>{}(work.id)));
            return;
        }
        auto const key = one.key(work.parameters, line);
        into.push_back(std::visit(
            [&]<typename Key>(Key const& found) { return hash_mix(seed, std::hash<Key>{}(found)); },
            key));
    });
}

/// Computes the hashes of a one-phase job's records and of its entry. The entry counts because the
/// first job with an id decides the meaning of the id.
inline void one_phase_hashes(job const& work, std::vector<std::uint64_t>& into) {
    record_hashes(work, into);
    into.push_back(hash_mix(0, std::hash<transaction_id>{}(work.id)));
}

/// The rules of this order, by name. A program uses all of them; only the environment of a search
/// hides some (`order_rules`), to show that each is needed.
struct order_rules {
    /// A job that failed on a record with the pending mark of an earlier job is requeued after it.
    static constexpr bool requeues = true;
    /// A later job that shares a record with a requeued or held-up job is requeued, too.
    static constexpr bool requeues_with = true;
    /// A job that shares a record with a waiting job is not sent to the store.
    static constexpr bool waits_with = true;
    /// No job is sent to a record with marks of a transaction that backs off.
    static constexpr bool backs_off_first = true;
    /// A one-phase job waits for the end of earlier jobs that share a record.
    static constexpr bool one_phase_waits = true;
};

template <typename Environment>
struct order_rules_of {
    using type = order_rules;
};
template <typename Environment>
    requires requires { typename Environment::order_rules; }
struct order_rules_of<Environment> {
    using type = typename Environment::order_rules;
};

/// Shape:   Rules - order_rules, or a subset for a search
template <typename Rules>
class record_order {
public:
    /// Call before a wave.
    void begin() {
        blocked_.clear();
        pending_.clear();
        paused_.clear();
    }

    /// A job that backs off may still have marks. No other job may be sent to its records, least of
    /// all the earlier job that it backs off from.
    void backs_off(job const& work) {
        if (!Rules::backs_off_first) return;
        record_hashes(work, records_);
        for (auto const record : records_) blocked_.insert(record);
    }

    /// True if a job waits for an earlier job of its window. It waits for an earlier job that has
    /// not taken effect and is held up from outside the window, for any earlier job on a record
    /// with an exclusive effect, and for a resting job after which it was requeued. A one-phase job
    /// waits until the earlier job has ended, since it cannot be requeued after a pending mark.
    /// Shape:   due - the job takes part in this wave; other jobs only count for later jobs;
    ///          held_up, requeued - when the job was last sent
    [[nodiscard]] bool must_wait(step wave, job const& work, bool due, bool held_up,
                                 bool requeued) {
        bool const free = exclusive_.empty() && blocked_.empty() && paused_.empty();
        if (due && !held_up && free) return false;
        find_records(wave, work);
        bool waits = !due && (wave == step::one_phase || !cannot_be_requeued(work));
        bool const goes_on = due && cannot_be_requeued(work);
        for (auto const record : records_) {
            bool const shared = blocked_.contains(record) || pending_.contains(record) ||
                                (requeued && paused_.contains(record));
            waits = waits || (shared && !goes_on);
        }
        if (work.resting && has_marks(work)) {
            for (auto const record : records_) paused_.insert(record);
        }
        bool const blocks = (waits || (due && held_up)) && Rules::waits_with;
        for (auto const record : records_) {
            if (blocks) blocked_.insert(record);
            if (!exclusive_.contains(record)) continue;
            pending_.insert(record);
            if (waits) still_exclusive_.insert(record);
        }
        return waits;
    }

    /// Call after a wave.
    void begin_answers() { stalled_.clear(); }

    /// Call after a wave that marks records.
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

    /// How a job goes on after the wave.
    /// Shape:   due - the job took part in the wave; other jobs only count for later jobs
    [[nodiscard]] ruling ruling_of(job const& work, bool due) {
        record_hashes(work, records_);
        auto const& c = work.coordinator;
        if (!due || cannot_be_requeued(work)) {
            if (cannot_be_requeued(work) && !has_marks(work)) return ruling::proceeds;
            auto& touched = cannot_be_requeued(work) ? pending_ : blocked_;
            for (auto const record : records_) touched.insert(record);
            return ruling::proceeds;
        }
        bool requeued = false;
        bool unavailable = false;
        bool unsure = false;
        bool fenced = false;
        for (std::size_t part = 0; part < records_.size(); ++part) {
            answer const reply = c.answer_of(part);
            unavailable = unavailable || reply == answer::unavailable;
            unsure = unsure || reply == answer::unknown;
            fenced = fenced || reply == answer::fenced;
            bool const may_succeed_later =
                Rules::requeues && (reply == answer::busy || may_hold_later(reply));
            requeued = requeued || (Rules::requeues_with && blocked_.contains(records_[part]));
            if (!may_succeed_later || !pending_.contains(records_[part])) continue;
            requeued = true;
            if (reply == answer::busy) exclusive_.insert(records_[part]);
        }
        bool const waits =
            requeued || unavailable || unsure || fenced || has_answer(work, answer::busy);
        for (std::size_t part = 0; part < records_.size(); ++part) {
            if (waits) blocked_.insert(records_[part]);
            else if (c.answer_of(part) == answer::applied) pending_.insert(records_[part]);
        }
        if (!requeued) return waits ? ruling::held_up : ruling::proceeds;
        // A fenced job first has to find out the state of its entry.
        return fenced ? ruling::proceeds : ruling::requeued;
    }

    /// True if a job makes no progress: marks or a store outside its window hold it up, or it waits
    /// for an earlier job that makes no progress.
    /// Shape:   held_up - this job itself, from outside the window
    [[nodiscard]] bool stalls(step wave, job const& work, bool held_up) {
        if (!held_up && stalled_.empty()) return false;
        find_records(wave, work);
        bool found = held_up;
        for (auto const record : records_) found = found || stalled_.contains(record);
        for (auto const record : records_) {
            if (found) stalled_.insert(record);
        }
        return found;
    }

private:
    /// Computes the records that a job shares with other jobs in a wave.
    void find_records(step wave, job const& work) {
        if (wave == step::one_phase) one_phase_hashes(work, records_);
        else record_hashes(work, records_);
    }

    /// True if the job has left `pending`, or may have called a stage after its records: then its
    /// applied parts stay as they are until confirm or undo.
    static bool cannot_be_requeued(job const& work) {
        auto const now = work.coordinator.state();
        return (now != state::initial && now != state::pending) ||
               !work.coordinator.may_start_over();
    }

    /// True if the job has marks to finish or undo; without marks only its close is left.
    static bool has_marks(job const& work) {
        return cannot_be_requeued(work) && work.coordinator.next() != step::close;
    }

    /// True if the answer may change when the pending transactions have ended.
    static bool may_hold_later(answer reply) {
        return reply == answer::guard_failed || reply == answer::overflow ||
               reply == answer::record_missing || reply == answer::record_exists;
    }

    [[nodiscard]] bool has_answer(job const& work, answer reply) const {
        for (std::size_t part = 0; part < records_.size(); ++part) {
            if (work.coordinator.answer_of(part) == reply) return true;
        }
        return false;
    }

    hash_set blocked_;   ///< records of jobs that have not taken effect yet, or back off
    hash_set pending_;   ///< records that earlier jobs of the window have marked
    hash_set paused_;    ///< records in pending_ whose earlier jobs rest
    hash_set exclusive_; ///< records with an exclusive effect, as a busy answer showed
    hash_set still_exclusive_;
    hash_set stalled_; ///< records of jobs without progress
    std::vector<std::uint64_t> records_;
};

} // namespace detail
SETTLE_END
