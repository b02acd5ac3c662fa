// SPDX-License-Identifier: BSL-1.0
// Parts of a search that a database prepares: the names and the receipt of each part.
#pragma once

#include <settle/definition/prepared_participant.hpp>
#include <settle/protocol/prepared_rule.hpp>
#include <settle/protocol/step.hpp>
#include <settle/testing/explore/few.hpp>

#include <string>
#include <vector>

SETTLE_BEGIN
namespace testing {

/// A part of a transaction that a database prepares. It is applied beside the records.
struct prepared_model {
    std::string name;
    bool refuses = true; ///< the work may refuse
    bool busy = false;   ///< a lock may not be free in time
};

/// The part that a search has for a prepared participant.
template <PreparedParticipant Participant>
[[nodiscard]] prepared_model searched_prepared() {
    return {std::string{Participant::name}};
}

struct prepared_clause {
    transaction_id id;
    std::vector<prepared_model> parts;
};

/// Adds prepared parts to the transaction of another clause:
/// `prepares("t1", prepared_model{"ledger"})`.
template <typename... Parts>
[[nodiscard]] prepared_clause prepares(transaction_id id, Parts const&... parts) {
    return {std::move(id), {parts...}};
}

inline constexpr std::size_t most_prepared = 2;

/// One part in its database.
struct prepared_row {
    few<epoch, 4> names{};          ///< in doubt, in the order of their epochs
    std::optional<epoch> receipt{}; ///< the committed epoch; 0 if a cancel wrote the receipt
    std::uint8_t commits = 0;       ///< the number of names of the part that were committed
    bool by_hand = false;           ///< a person has rolled back a name
    std::uint8_t transaction = 0;

    [[nodiscard]] bool has(epoch name) const {
        return std::find(names.begin(), names.end(), name) != names.end();
    }
    void add(epoch name) {
        names.push_back(name);
        std::sort(names.begin(), names.end());
    }
    /// Ends each name that the function chooses.
    template <typename Chosen>
    void end(bool commits_them, Chosen const& chosen) {
        for (std::size_t i = names.size(); i-- > 0;) {
            if (!chosen(names[i])) continue;
            if (commits_them) {
                ++commits;
                if (!receipt) receipt = names[i];
            }
            names.erase(i);
        }
    }
    template <typename Print>
    void add_to(Print& print) const {
        print.add(std::uint64_t{names.size()} | (receipt ? 1U : 0U) << 8U |
                  std::uint64_t{commits} << 16U | (by_hand ? 1U : 0U) << 24U);
        for (epoch const one : names) print.add(one);
        if (receipt) print.add(*receipt);
    }
};

/// One request to the database of a part.
/// Shape:   begins - the first half of an apply or a compensate, which rolls back the names found;
///          chosen - the number of the answer, below possible_answers()
struct prepared_request {
    step at;
    epoch under;
    epoch committed;
    bool begins;
    std::size_t chosen;
};

/// The number of answers that the database chooses from.
[[nodiscard]] inline std::size_t possible_answers(prepared_model const& model, step current,
                                                  bool begins) {
    if (current != step::apply || begins) return 1;
    return 1U + (model.refuses ? 1U : 0U) + (model.busy ? 1U : 0U);
}

namespace detail {

/// Returns: `none` if the part may be prepared
template <typename Rules>
answer clear_before_prepare(prepared_row& row, epoch under) {
    answer answer = answer::none;
    row.end(false, [&](epoch name) {
        auto const decided = before_prepare<Rules>(name, under);
        if (decided == found_name::fences) answer = answer::fenced;
        if (decided == found_name::adopted) answer = answer::applied;
        return decided == found_name::rolled_back;
    });
    return answer;
}

template <typename Rules>
prepare_answer prepare(prepared_row& row, prepared_model const& model,
                       prepared_request const& request) {
    using enum prepare_answer;
    if (Rules::receipts && row.receipt) return denied;
    // The name is in use. A worker that repeats its prepare takes that for an answer.
    if (row.has(request.under)) return Rules::unknown_claims ? unknown : prepared;
    if (Rules::receipts && !row.names.empty()) return busy;
    if (request.chosen != 0) return model.refuses && request.chosen == 1 ? refused : busy;
    row.add(request.under);
    return prepared;
}

template <typename Rules>
answer confirm(prepared_row& row, epoch committed) {
    std::size_t const before = row.names.size();
    row.end(true, [&](epoch name) { return finish_commits<Rules>(name, committed); });
    if (row.names.size() != before) return answer::applied;
    bool const done = !Rules::receipts || absent_is_committed<Rules>(row.receipt, committed);
    return done ? answer::applied : answer::unavailable;
}

/// Returns: `none` if names are to be rolled back first
template <typename Rules>
answer deny(prepared_row& row, epoch latest) {
    if (!Rules::receipts) return answer::applied;
    for (epoch const name : row.names) {
        return cancel_rolls_back(name, latest) ? answer::none : answer::applied;
    }
    if (!row.receipt) row.receipt = 0;
    return answer::applied;
}

} // namespace detail

/// Executes one request at the database of its part.
/// Returns: `none` if the other half of the request is next
template <typename Rules>
answer execute_prepared(prepared_row& row, prepared_model const& model,
                        prepared_request const& request) {
    switch (request.at) {
    case step::apply:
        if (request.begins) return detail::clear_before_prepare<Rules>(row, request.under);
        return answer_of(detail::prepare<Rules>(row, model, request));
    case step::confirm: return detail::confirm<Rules>(row, request.committed);
    case step::compensate:
        if (!request.begins) return detail::deny<Rules>(row, request.under);
        row.end(false, [&](epoch name) { return cancel_rolls_back(name, request.under); });
        return answer::none;
    default:
        row.end(false, [&](epoch name) { return exact_rolls_back<Rules>(name, request.under); });
        return answer::applied;
    }
}

} // namespace testing
SETTLE_END
