// SPDX-License-Identifier: BSL-1.0
// Requests to run transactions in one phase, and how several requests share one native transaction.
#pragma once

#include <settle/store/group.hpp>

#include <string_view>
#include <unordered_map>

SETTLE_BEGIN
namespace detail {

template <typename UnitOfWork>
struct settle_request : group_member {
    std::span<job* const> jobs;
    std::span<erased_operation<UnitOfWork> const> parts; ///< of all jobs, in their order
    write_context const& at;
    one_phase_decider decide;

    /// Calls `function(job, its parts)` for each of the jobs, in their order.
    template <typename Function>
    void for_each(Function&& function) const {
        for_each_with_parts(jobs, parts, function);
    }
};

/// The log's answer to the insert of a job's entry if the entry exists; else empty.
using insert_refusal = function_view<std::optional<log_answer>(job const&)>;

/// For those of whose ids the log was asked before: others of them may have the same.
[[nodiscard]] inline insert_refusal const& log_was_asked() {
    static auto const none = [](job const&) { return std::optional<log_answer>{}; };
    static insert_refusal const made{none};
    return made;
}

/// Leaves a job out of its native transaction, since its entry exists. The decision function must
/// see the job all the same: later jobs of its window may depend on it.
inline void leave_out(job& work, one_phase_decider decide, log_answer reply) {
    static_cast<void>(decide(work));
    work.reply = reply;
}

/// The ids of the jobs that share a native transaction. They are checked only after an insert has
/// shown that an id exists, in the log or twice among them.
class ids_side_by_side {
public:
    /// Shape:   refusal - null where all ids are taken for new
    explicit ids_side_by_side(insert_refusal const* refusal) : refusal_(refusal) {}

    /// Whether a job is left out, since its entry cannot be inserted; asked before any of them has
    /// met its records.
    [[nodiscard]] bool look(job& work) {
        if (refusal_ == nullptr || !work.coordinator.inserts()) return false;
        auto const refused = (*refusal_)(work);
        work.reply = refused.value_or(log_answer::unknown);
        return refused || first_.try_emplace(work.id, &work).first->second != &work;
    }

    /// Leaves such a job out, when it is its turn; false for any other.
    [[nodiscard]] bool leaves_out(job& work, one_phase_decider decide) const {
        if (refusal_ == nullptr || !work.coordinator.inserts()) return false;
        if (work.reply != log_answer::unknown) {
            leave_out(work, decide, work.reply);
            return true;
        }
        job const& first = *first_.at(work.id);
        if (&first == &work) return false;
        if (first.reply == log_answer::taken) {
            leave_out(work, decide, log_answer::ended);
            return true;
        }
        // The first of them goes first, when it can.
        for (std::size_t part = 0; part < work.coordinator.parts(); ++part) {
            work.coordinator.answered(part, answer::none);
        }
        leave_out(work, decide, log_answer::held_back);
        work.coordinator.stay_behind();
        return true;
    }

private:
    insert_refusal const* refusal_;
    std::unordered_map<std::string_view, job const*> first_; ///< of each id that is new
};

/// Settles what requests want, inside of a native transaction.
/// Shape:   fetch() - reads the records that the unit of work expects; execute(operation) - what
/// that answers;
///          change(job, write_context) - changes an existing entry, and sets the log's answer;
///          refusal - null where all ids are taken for new
/// Returns: the jobs whose entries are still to be inserted
template <typename UnitOfWork, typename Fetch, typename Execute, typename Change>
[[nodiscard]] std::vector<job*>
settle_side_by_side(UnitOfWork& unit, std::span<settle_request<UnitOfWork>* const> requests,
                    Fetch&& fetch, Execute&& execute, Change&& change,
                    insert_refusal const* refusal = nullptr) {
    std::vector<job*> fresh;
    ids_side_by_side ids{refusal};
    for (auto const* const one : requests) {
        one->for_each([&](job& work, auto const& parts) {
            if (ids.look(work)) return;
            for (auto const& part : parts) part.expect(unit);
        });
    }
    fetch();
    for (auto const* const one : requests) {
        one->for_each([&](job& work, auto const& parts) {
            if (ids.leaves_out(work, one->decide)) return;
            settle_in_native(
                work, parts, one->decide, [&](auto const& part) { part.deliver(execute(part)); },
                [&] {
                    if (!work.coordinator.inserts()) return change(work, one->at);
                    fresh.push_back(&work);
                },
                [&](auto const& part, bool done) { part.end_one_phase(unit, done); });
        });
    }
    return fresh;
}

} // namespace detail
SETTLE_END
