// SPDX-License-Identifier: BSL-1.0
// A wave in a native transaction: shared by adapters that read, apply the record rule, and write
// inside a native transaction. Every answer holds only once that transaction is committed.
#pragma once

#include <settle/store/erased_operation.hpp>
#include <settle/store/function_view.hpp>

#include <vector>

SETTLE_BEGIN
namespace detail {

/// Where a native transaction stands after its commit was tried, or a write outside of one.
enum class commit_status : std::uint8_t {
    committed,
    undone, ///< it took no effect
    unknown ///< it took effect at most once, perhaps later
};

struct commit_result {
    detail::commit_status status = commit_status::committed;
    error problem{};
};

/// True if every member would get this result when committed alone.
[[nodiscard]] inline bool is_same_for_each(commit_result const& ended) noexcept {
    auto const& code = ended.problem.code;
    return ended.status != commit_status::undone || code == condition::unknown ||
           code == condition::retryable;
}

/// The answer to an operation whose native transaction did not commit.
[[nodiscard]] inline answer answer_of(commit_status end) noexcept {
    return end == commit_status::unknown ? answer::unknown : answer::unavailable;
}

/// The log's answer to a write that certainly took no effect.
[[nodiscard]] inline log_answer answer_of_undone(error const& problem) noexcept {
    if (problem.code == errc::bad_parameters) return log_answer::unfit;
    bool const blocks = problem.code == errc::damaged || problem.code == errc::unfit_store;
    return blocks ? log_answer::blocked : log_answer::unavailable;
}

/// Gives a job the result of its writes.
inline void say(job& work, commit_result const& ended) {
    switch (ended.status) {
    case commit_status::committed: work.reply = log_answer::taken; return;
    case commit_status::undone: work.reply = answer_of_undone(ended.problem); break;
    case commit_status::unknown: work.reply = log_answer::unknown; break;
    }
    work.problem = ended.problem;
}
inline void say(std::span<job* const> jobs, commit_result const& ended) {
    for (auto* const work : jobs) say(*work, ended);
}

/// The jobs of a wave that take this step, in their order.
[[nodiscard]] inline std::vector<job*> jobs_of(std::span<job> wave, step wanted) {
    std::vector<job*> jobs;
    for (auto& work : wave) {
        if (work.takes(wanted)) jobs.push_back(&work);
    }
    return jobs;
}

/// Answers the operations of a wave once its native transaction has ended.
/// Shape:   kept - an answer for each operation, where it was committed
template <typename UnitOfWork>
void deliver_all(std::vector<erased_operation<UnitOfWork>> const& all,
              std::vector<kept_answer> const& kept, commit_result const& ended) {
    for (std::size_t at = 0; at < all.size(); ++at) {
        if (ended.status == commit_status::committed) all[at].deliver(kept[at]);
        else all[at].failed(answer_of(ended.status), ended.problem);
    }
}

/// Calls `function(run, stands_alone)` for runs of neighbours, and for each element that stands
/// alone.
template <typename T, typename StandsAlone, typename Function>
void for_each_run(std::span<T> all, StandsAlone&& stands_alone, Function&& function) {
    auto begin = all.begin();
    for (auto at = begin; at != all.end(); ++at) {
        if (!stands_alone(*at)) continue;
        if (begin != at) function(std::span<T>{begin, at}, false);
        function(std::span<T>{at, at + 1}, true);
        begin = at + 1;
    }
    if (begin != all.end()) function(std::span<T>{begin, all.end()}, false);
}

/// Decides the result of a transaction whose parts are applied; false if nothing is written.
using one_phase_decider = function_view<bool(job&)>;

/// Settles one transaction inside a native transaction: its parts meet their records, decide(job)
/// decides, the entry is written, and each applied part is confirmed or undone as the entry says.
/// Shape:   parts - all of the job; execute(operation) - answers it; write_entry() - writes the
/// entry
///          or schedules its insert, and sets its answer; end(operation, done) - pulls the mark
template <typename UnitOfWork, typename Execute, typename WriteEntry, typename End>
void settle_in_native(job& work, std::span<erased_operation<UnitOfWork> const> parts,
                      one_phase_decider decide, Execute&& execute, WriteEntry&& write_entry,
                      End&& end) {
    for (std::size_t part = 0; part < work.coordinator.parts(); ++part) {
        work.coordinator.answered(part, answer::none);
    }
    for (auto const& one : parts) execute(one);
    bool const writes_entry = decide(work);
    work.reply = writes_entry ? log_answer::taken : log_answer::held_back;
    if (writes_entry) write_entry();
    bool const done = writes_entry && work.reply == log_answer::taken &&
                      work.coordinator.insert_state() == state::done;
    for (auto const& one : parts) {
        if (work.coordinator.answer_of(one.flat_part()) == answer::applied) end(one, done);
    }
}

} // namespace detail
SETTLE_END
