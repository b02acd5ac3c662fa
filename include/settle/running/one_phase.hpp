// SPDX-License-Identifier: BSL-1.0
// Decides one-phase transactions inside their native transaction.
#pragma once

#include <settle/running/options.hpp>
#include <settle/running/order.hpp>

SETTLE_BEGIN
namespace detail {

/// Keeps the order of the one-phase jobs of a wave. A busy job, or a job whose entry exists and is
/// not final, goes on after the native transaction. A later job that shares its id or a record
/// waits, so as not to overtake. A job whose entry is final changes no record; no job waits for it.
class one_phase_order {
public:
    /// True if a job waits for an earlier job of its wave that has not settled.
    /// Shape:   jobs come in their order; all or some come again when the native transaction is
    ///          repeated, and a job comes twice in a row when its decision is repeated
    [[nodiscard]] bool stands_behind(job const& work, record_hashes_function* records) {
        if (decided_.empty() || decided_.back() != &work) {
            look_at_earlier(work, records);
            decided_.push_back(&work);
        }
        if (waiting_.empty()) return false;
        auto const earlier = [&](std::size_t number) { return number < number_of(work); };
        one_phase_hashes(work, records, records_);
        return std::any_of(records_.begin(), records_.end(), [&](std::uint64_t record) {
            return waiting_.find(record, earlier) != nullptr;
        });
    }

    /// True if the job's native transaction makes its entry final when it commits.
    static bool has_settled(job const& work) {
        return work.reply == log_answer::taken;
    }

private:
    /// A job that gets another id goes on.
    static bool is_over(job const& work) {
        return (work.reply == log_answer::ended && !work.new_id) || has_settled(work);
    }

    /// The jobs of a wave are contiguous and in order.
    static std::size_t number_of(job const& work) {
        return reinterpret_cast<std::uintptr_t>(&work);
    }

    void look_at_earlier(job const& work, record_hashes_function* records) {
        if (decided_.empty()) return;
        if (number_of(*decided_.back()) < number_of(work)) {
            if (!is_over(*decided_.back())) let_wait(*decided_.back(), records);
            return;
        }
        // The native transaction is repeated, perhaps without the jobs whose entries exist.
        for (auto const* const one : decided_) {
            bool const is_there =
                one->reply == log_answer::conflict || one->reply == log_answer::ended;
            if (is_there && !is_over(*one)) let_wait(*one, records);
        }
        decided_.clear();
    }

    void let_wait(job const& work, record_hashes_function* records) {
        auto const number = number_of(work);
        one_phase_hashes(work, records, records_);
        for (auto const record : records_) {
            auto const not_later = [&](std::size_t other) { return other <= number; };
            if (waiting_.find(record, not_later) == nullptr) waiting_.insert(record, number);
        }
    }

    std::vector<job const*> decided_; ///< jobs, since the native transaction began
    hash_index waiting_;             ///< records of unsettled jobs, with the job's number
    std::vector<std::uint64_t> records_;
};

/// Decides one-phase transactions. The age is checked inside the native transaction, so that
/// nothing comes between the check and the commit.
template <typename Environment>
class one_phase_decision {
public:
    /// Shape:   records - of a job whose wave keeps an order; otherwise null
    one_phase_decision(Environment const& environment, options const& limits,
                  record_hashes_function* records)
        : environment_(environment), attempts_(limits.attempts), lifetime_(limits.lifetime),
          clocks_(limits.clocks), records_(records) {}

    [[nodiscard]] bool operator()(job& work) const {
        using rules = typename order_rules_of<Environment>::type;
        if (rules::one_phase_waits && records_ != nullptr && order_.stands_behind(work, records_)) {
            work.coordinator.stay_behind();
            return false;
        }
        bool const expired = age_of(work.created, environment_.now(), clocks_) > lifetime_;
        return work.coordinator.decide_one_phase(attempts_, expired);
    }

private:
    Environment environment_; ///< a copy: the decision may outlive the engine
    std::uint32_t attempts_;
    std::chrono::milliseconds lifetime_;
    std::chrono::milliseconds clocks_;
    record_hashes_function* records_;
    mutable one_phase_order order_; ///< of one wave, like this decision
};

} // namespace detail

SETTLE_END
