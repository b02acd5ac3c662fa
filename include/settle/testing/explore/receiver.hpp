// SPDX-License-Identifier: BSL-1.0
// Parts of a search that are no records: calls of receivers.
#pragma once

#include <settle/definition/call_participant.hpp>
#include <settle/protocol/step.hpp>
#include <settle/testing/explore/few.hpp>

#include <string>
#include <vector>

SETTLE_BEGIN
namespace testing {

/// The moments of a modeled call.
enum class call_moments : std::uint8_t {
    query,    ///< an apply without an effect, whose answer may differ each time
    undoable, ///< apply, confirm and compensate
    pivot,    ///< an apply that cannot be undone, alone in the last stage
    confirm_only
};

/// A part of a transaction that calls a receiver. Its key is the transaction and the part.
struct call_model {
    std::string name;
    stage_number stage = 1; ///< at least 1; its parameters are the results of earlier stages
    call_moments moments = call_moments::undoable;
    receiver_grade grade = barrier;
    std::uint8_t results = 1; ///< the number of different results of a first answer; at most 14
    bool refuses = false;     ///< a first answer may refuse the call
    bool busy = false;        ///< a first answer may be busy
};

/// The call that a search makes for a participant that is no record. A kind specialises it for its
/// participants.
/// Shape:   make() - static: the call_model, with the participant's stage
template <typename Participant>
struct searched_call;

/// The default model of a service: it may refuse a call that has an effect, and its queries give
/// two results.
template <CallParticipant Participant>
struct searched_call<Participant> {
    static call_model make() {
        call_model made{std::string{Participant::name},
                        static_cast<stage_number>(Participant::stage)};
        made.grade = Participant::service_type::grade;
        if (!Participant::applies) made.moments = call_moments::confirm_only;
        else if (!Participant::has_effect) made.moments = call_moments::query;
        else if (Participant::is_pivot) made.moments = call_moments::pivot;
        made.results = made.moments == call_moments::query ? 2 : 1;
        made.refuses = Participant::has_effect;
        return made;
    }
};

struct calls_clause {
    transaction_id id;
    std::vector<call_model> parts;
};

/// Adds calls to the transaction of another clause: `calls("t1", call_model{"seat", 1})`.
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

/// The state of one key at its receiver.
struct receiver_row {
    enum class status : std::uint8_t { none, applied, confirmed, closed, refused };
    status now = status::none;
    std::uint8_t result = 0;
    bool compensated = false;    ///< the receiver remembers this operation
    bool forgotten = false;      ///< the row was purged once
    std::int8_t effects = 0;     ///< effects that stand; an undo of nothing makes it negative
    call_results parameters = 0; ///< the results that the first call carried
    std::uint8_t transaction = 0;
    epoch under = 0; ///< the epoch in the key, if keys have epochs

    [[nodiscard]] std::uint64_t packed() const noexcept {
        return static_cast<std::uint64_t>(now) | std::uint64_t{result} << 8U |
               std::uint64_t{parameters} << 16U |
               std::uint64_t{static_cast<std::uint8_t>(effects)} << 32U |
               (compensated ? 1U : 0U) << 6U | (forgotten ? 1U : 0U) << 7U | under << 40U;
    }
};

[[nodiscard]] constexpr std::string_view name_of(receiver_row::status value) {
    constexpr std::string_view names[]{"none", "applied", "confirmed", "closed", "refused"};
    return names[static_cast<std::size_t>(value)];
}

struct call_answer {
    answer what = answer::nothing;
    std::uint8_t result = 0;
};

/// One call, as its receiver gets it.
/// Shape:   late - the last moment of the call is over; chosen - the number of a first answer,
///          below possible_answers()
struct received_call {
    step at;
    epoch under; ///< in the key; 0 as long as keys have no epochs
    call_results parameters;
    bool late;
    std::size_t chosen;
};

/// The number of answers that a receiver chooses from.
[[nodiscard]] inline std::size_t possible_answers(receiver_row const& row, call_model const& of,
                                                  step at, epoch under) {
    bool const first =
        at == step::apply && (row.now == receiver_row::status::none || row.under != under);
    if (!first || of.moments == call_moments::confirm_only) return 1;
    return of.results + (of.refuses ? 1U : 0U) + (of.busy ? 1U : 0U);
}

namespace detail {

/// The first apply that reaches a receiver.
inline call_answer apply_first(receiver_row& row, call_model const& of, received_call const& call) {
    bool const remembers = of.grade.remembers != receiver_grade::memory::nothing;
    bool const refuses = of.refuses && call.chosen == of.results;
    if (refuses || (call.late && remembers)) {
        if (of.grade.keeps_refusals) row.now = receiver_row::status::refused;
        return {answer::refused, 0};
    }
    if (call.chosen >= of.results) return {answer::busy, 0};
    auto const result = static_cast<std::uint8_t>(call.chosen + 1);
    if (of.moments == call_moments::query) return {answer::applied, result};
    row.parameters = call.parameters;
    row.result = result;
    row.under = call.under;
    ++row.effects;
    if (remembers) row.now = receiver_row::status::applied;
    return {answer::applied, result};
}

inline call_answer compensate(receiver_row& row, call_model const& of) {
    using enum receiver_row::status;
    bool const undoes = of.grade.remembers == receiver_grade::memory::rows ? row.now == applied
                                                                           : !row.compensated;
    if (undoes) --row.effects;
    if (of.grade.remembers == receiver_grade::memory::rows) {
        // A key without a row is closed, too, so that it refuses a later apply.
        if (row.now != refused) row.now = closed;
    } else {
        row.compensated = of.grade.remembers == receiver_grade::memory::keys;
    }
    return {answer::applied, 0};
}

inline call_answer confirm(receiver_row& row, call_model const& of) {
    using enum receiver_row::status;
    if (of.moments == call_moments::confirm_only) {
        if (row.now == none) ++row.effects;
        if (of.grade.remembers != receiver_grade::memory::nothing) row.now = confirmed;
    } else if (row.now == applied) {
        row.now = confirmed;
    }
    return {answer::applied, 0};
}

} // namespace detail

/// Executes one call at its receiver.
inline call_answer execute_call(receiver_row& row, call_model const& of,
                                received_call const& call) {
    using enum receiver_row::status;
    using enum call_moments;
    if (call.at == step::apply) {
        if (of.moments == confirm_only) return {answer::applied, 0};
        if (row.now == none || row.under != call.under) return detail::apply_first(row, of, call);
        bool const stands = row.now == applied || row.now == confirmed;
        return stands ? call_answer{answer::applied, row.result} : call_answer{answer::refused, 0};
    }
    if (call.at == step::confirm) {
        bool const asks = of.moments == undoable || of.moments == confirm_only;
        return asks ? detail::confirm(row, of) : call_answer{answer::applied, 0};
    }
    return of.moments == undoable ? detail::compensate(row, of) : call_answer{answer::applied, 0};
}

} // namespace testing
SETTLE_END
