// SPDX-License-Identifier: BSL-1.0
// The results of a native transaction, and of the requests and writes inside of it. Every answer
// holds only once the native transaction is committed.
#pragma once

#include <settle/store/seam.hpp>

#include <algorithm>

SETTLE_BEGIN
namespace detail {

/// The state of a native transaction after its commit was tried, or of a write outside of one.
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

/// The answer to a part request whose native transaction did not commit.
[[nodiscard]] inline answer answer_of(commit_status end) noexcept {
    return end == commit_status::unknown ? answer::unknown : answer::unavailable;
}

/// The log's answer to a write that certainly took no effect.
[[nodiscard]] inline log_answer answer_of_undone(error const& problem) noexcept {
    if (problem.code == errc::bad_parameters) return log_answer::unfit;
    bool const blocks = problem.code == errc::damaged || problem.code == errc::unfit_store;
    return blocks ? log_answer::blocked : log_answer::unavailable;
}

/// Gives an entry write the result of its native transaction.
inline void set_result(write_result& result, commit_result const& ended) {
    switch (ended.status) {
    case commit_status::committed: result.reply = log_answer::taken; return;
    case commit_status::undone: result.reply = answer_of_undone(ended.problem); break;
    case commit_status::unknown: result.reply = log_answer::unknown; break;
    }
    result.problem = ended.problem;
}

/// Replaces the results of part requests if their native transaction did not commit.
inline void replace_results(std::span<part_result> results, commit_result const& ended) {
    if (ended.status == commit_status::committed) return;
    for (part_result& one : results) one.fail(answer_of(ended.status), ended.problem);
}

/// Gives part requests their results once their native transaction has ended.
/// Shape:   kept - a result for each request, if it was committed
inline void set_results(std::span<part_result> results, std::vector<part_result>& kept,
                        commit_result const& ended) {
    if (ended.status == commit_status::committed) {
        std::move(kept.begin(), kept.end(), results.begin());
    }
    replace_results(results, ended);
}

/// Calls `function(run, alone)` for runs of adjacent elements, and for each element that must be
/// alone.
template <typename T, typename IsAlone, typename Function>
void for_each_run(std::span<T> elements, IsAlone&& is_alone, Function&& function) {
    auto begin = elements.begin();
    for (auto position = begin; position != elements.end(); ++position) {
        if (!is_alone(*position)) continue;
        if (begin != position) function(std::span<T>{begin, position}, false);
        function(std::span<T>{position, position + 1}, true);
        begin = position + 1;
    }
    if (begin != elements.end()) function(std::span<T>{begin, elements.end()}, false);
}

} // namespace detail
SETTLE_END
