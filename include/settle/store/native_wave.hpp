// SPDX-License-Identifier: BSL-1.0
// A wave in a native transaction: what adapters share that read, decide by the record rule, and
// write inside of one. Whatever was decided holds once that transaction is committed, and not
// before.
#pragma once

#include <settle/store/wave.hpp>

#include <vector>

SETTLE_BEGIN
namespace detail {

/// Where a native transaction stands after its commit was tried, or a write outside of one.
enum class fate : std::uint8_t {
    committed,
    undone, ///< it took no effect
    unknown ///< it took effect at most once, perhaps later
};

struct ending {
    detail::fate fate = fate::committed;
    error problem{};
};

/// What an operation is told of an ending that is no commit.
[[nodiscard]] inline answer answer_of(fate end) noexcept {
    return end == fate::unknown ? answer::unknown : answer::unavailable;
}

/// Tells a job how its writes ended.
inline void say(job& work, ending const& ended) {
    switch (ended.fate) {
    case fate::committed: work.said = log_answer::taken; return;
    case fate::undone: work.said = log_answer::unavailable; break;
    case fate::unknown: work.said = log_answer::unknown; break;
    }
    work.problem = ended.problem;
}
inline void say(std::span<job* const> jobs, ending const& ended) {
    for (auto* const work : jobs) say(*work, ended);
}

/// The jobs of a wave that take a step, in their order.
[[nodiscard]] inline std::vector<job*> jobs_of(std::span<job> wave, step wanted) {
    std::vector<job*> jobs;
    for (auto& work : wave) {
        if (work.takes(wanted)) jobs.push_back(&work);
    }
    return jobs;
}

/// What an operation met, kept until the commit.
struct kept_answer {
    answer what = answer::none;
    std::shared_ptr<void const> exclusive{}; ///< of the operation's record
    error problem{};                         ///< why the record could not be used

    template <Described Record>
    [[nodiscard]] static kept_answer of(met<Record> const& result) {
        return {result.what, result.exclusive, {}};
    }
    /// A record that cannot be used cancels what has not begun with it; what has begun must wait
    /// for its repair.
    [[nodiscard]] static kept_answer of_unusable(step at, error const& why) {
        return {at == step::apply ? answer::record_unusable : answer::unavailable, nullptr, why};
    }

    template <typename Operation>
    void tell(Operation const& one) const {
        if (!problem.empty()) return one.failed(what, problem);
        using record = typename Operation::record;
        met<record> result;
        result.what = what;
        result.exclusive = std::static_pointer_cast<exclusive_effect<record> const>(exclusive);
        one.answered(result);
    }
};

/// Answers every due part of a wave once a native transaction has ended.
/// Shape:   perform(kept) - does all of it in one native transaction, fills `kept` with an answer
///          for each operation in the order of for_each_operation, and gives the ending
template <template <typename> typename Holds, step Step, typename Direction, typename Perform>
void answer_in_native(std::span<job> wave, Perform&& perform) {
    bool any = false;
    for_each_operation<Holds, Step, Direction>(wave, [&](auto const&) { any = true; });
    if (!any) return;
    std::vector<kept_answer> kept;
    ending const ended = perform(kept);
    std::size_t at = 0;
    for_each_operation<Holds, Step, Direction>(wave, [&](auto const& one) {
        if (ended.fate == fate::committed) kept[at++].tell(one);
        else one.failed(answer_of(ended.fate), ended.problem);
    });
}

/// Settles one transaction inside a native one: its parts meet their records, the judge says what
/// becomes of it, its entry is written, and what was applied ends as the entry says.
/// Shape:   meet(operation) - answers it; at(part) - is told which part is under way;
///          write_entry() - writes it or says that it will be, and sets what the log says;
///          end(operation, done) - takes the mark away again
template <template <typename> typename Holds, typename Direction, typename Judge, typename At,
          typename Meet, typename WriteEntry, typename End>
void settle_in_native(job& work, Judge& judge, At&& at, Meet&& meet, WriteEntry&& write_entry,
                      End&& end) {
    for (std::size_t part = 0; part < work.coordinator.parts(); ++part) {
        work.coordinator.answered(part, answer::none);
    }
    auto const every = [&](std::size_t part) {
        at(part);
        return true;
    };
    for_each_part<Holds, step::at_once, Direction>(work, every, meet);
    bool const writes_entry = judge(work);
    work.said = log_answer::taken;
    if (writes_entry) write_entry();
    bool const done = writes_entry && work.said == log_answer::taken &&
                      work.coordinator.insert_state() == state::done;
    auto const applied = [&](std::size_t part) {
        at(part);
        return work.coordinator.answer_of(part) == answer::applied;
    };
    for_each_part<Holds, step::at_once, Direction>(
        work, applied, [&](auto const& one) { end(one, done); });
}

} // namespace detail
SETTLE_END
