// SPDX-License-Identifier: BSL-1.0
// Parts of a search that are no records: calls of receivers.
#pragma once

#include <settle/protocol/step.hpp>
#include <settle/testing/explore/few.hpp>

#include <string>
#include <vector>

SETTLE_BEGIN
namespace testing {

/// The memory of a receiver.
enum class receiver_grade : std::uint8_t {
    query,  ///< nothing: a call has no effect, and each answer may differ
    barrier ///< a row for each key, in one native transaction with its own work
};

/// A part of a transaction that calls a receiver. Its key is the transaction and the part.
struct service_call {
    std::string name;
    stage_number stage = 1; ///< at least 1; its parameters are the results of earlier stages
    receiver_grade grade = receiver_grade::barrier;
    std::uint8_t results = 1; ///< the number of different results of a first answer; at most 14
    bool refuses = false;     ///< a first answer may refuse the call
    bool busy = false;        ///< a first answer may be busy
};

/// The call that a search makes for a participant that is no record. A kind specialises it for its
/// participants.
/// Shape:   make() - static: the service_call, with the participant's stage
template <typename Participant>
struct searched_call;

struct calls_clause {
    transaction_id id;
    std::vector<service_call> parts;
};

/// Adds calls to the transaction of another clause: `calls("t1", service_call{"seat", 1})`.
template <typename... Calls>
[[nodiscard]] calls_clause calls(transaction_id id, Calls const&... parts) {
    return {std::move(id), {parts...}};
}

/// The results of a transaction's calls, 4 bits each; 0 is no result.
using call_results = std::uint16_t;
inline constexpr std::size_t most_calls = 4;

[[nodiscard]] constexpr std::uint8_t result_of(call_results all, std::size_t at) {
    return static_cast<std::uint8_t>(all >> (4 * at) & 15U);
}
[[nodiscard]] constexpr call_results with_result(call_results all, std::size_t at,
                                                 std::uint8_t result) {
    return static_cast<call_results>((all & ~(15U << (4 * at))) | static_cast<unsigned>(result)
                                                                      << (4 * at));
}

/// The row of one key at its receiver.
struct receiver_row {
    enum class status : std::uint8_t { none, applied, confirmed, closed };
    status now = status::none;
    std::uint8_t result = 0;
    call_results parameters = 0; ///< the results that the first call carried

    [[nodiscard]] bool has_effect() const noexcept {
        return now == status::applied || now == status::confirmed;
    }
    [[nodiscard]] std::uint64_t packed() const noexcept {
        return static_cast<std::uint64_t>(now) | std::uint64_t{result} << 8U |
               std::uint64_t{parameters} << 16U;
    }
};

[[nodiscard]] constexpr std::string_view name_of(receiver_row::status value) {
    constexpr std::string_view names[]{"none", "applied", "confirmed", "closed"};
    return names[static_cast<std::size_t>(value)];
}

struct call_answer {
    answer what = answer::nothing;
    std::uint8_t result = 0;
};

/// The number of answers that a receiver chooses from.
[[nodiscard]] inline std::size_t possible_answers(receiver_row const& row, service_call const& of,
                                                  step at) {
    if (at != step::apply || row.now != receiver_row::status::none) return 1;
    return of.results + (of.refuses ? 1U : 0U) + (of.busy ? 1U : 0U);
}

/// Executes one call at its receiver.
/// Shape:   chosen - the number of the answer, below possible_answers()
inline call_answer execute_call(receiver_row& row, service_call const& of, step at,
                                call_results parameters, std::size_t chosen) {
    using enum receiver_row::status;
    if (at == step::apply) {
        if (row.now == closed) return {answer::guard_failed, 0};
        if (row.now != none) return {answer::applied, row.result};
        if (chosen >= of.results) {
            bool const refused = of.refuses && chosen == of.results;
            return {refused ? answer::guard_failed : answer::busy, 0};
        }
        auto const result = static_cast<std::uint8_t>(chosen + 1);
        if (of.grade == receiver_grade::barrier) row = {applied, result, parameters};
        return {answer::applied, result};
    }
    if (of.grade == receiver_grade::query) return {answer::applied, 0};
    if (at == step::confirm) {
        if (row.now == applied) row.now = confirmed;
        return {row.now == confirmed ? answer::applied : answer::nothing, 0};
    }
    // A key without a row is closed, too, so that it refuses a later apply.
    row = {closed, 0, 0};
    return {answer::applied, 0};
}

} // namespace testing
SETTLE_END
