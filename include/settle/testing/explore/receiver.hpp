// SPDX-License-Identifier: BSL-1.0
// Parts of a search that are no records: calls of receivers.
#pragma once

#include <settle/definition/call_participant.hpp>
#include <settle/protocol/receiver_rule.hpp>
#include <settle/protocol/step.hpp>
#include <settle/testing/explore/few.hpp>

#include <optional>
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
    bool confirms = true;     ///< a call that can be undone is confirmed after the commit
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
        made.confirms = Participant::confirms;
        return made;
    }
};

/// True if the receiver gets a call after the commit.
[[nodiscard]] constexpr bool confirms(call_model const& of) {
    return of.moments == call_moments::confirm_only ||
           (of.moments == call_moments::undoable && of.confirms);
}

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
    std::optional<receiver_status> now{};
    std::uint8_t result = 0;
    bool compensated = false;    ///< a receiver of keys alone remembers this operation
    bool forgotten = false;      ///< the row was purged once
    std::int8_t effects = 0;     ///< effects that stand; an undo of nothing makes it negative
    call_results parameters = 0; ///< the results that the first call carried
    std::uint8_t transaction = 0;
    epoch under = 0; ///< the epoch in the key, if keys have epochs

    [[nodiscard]] std::uint64_t packed() const noexcept {
        return (now ? std::uint64_t{1} + static_cast<std::uint64_t>(*now) : 0U) |
               (compensated ? 1U : 0U) << 6U | (forgotten ? 1U : 0U) << 7U |
               std::uint64_t{result} << 8U | std::uint64_t{parameters} << 16U |
               std::uint64_t{static_cast<std::uint8_t>(effects)} << 32U | under << 40U;
    }
};

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
    bool const first = at == step::apply && (!row.now || row.under != under);
    if (!first || of.moments == call_moments::confirm_only) return 1;
    return of.results + (of.refuses ? 1U : 0U) + (of.busy ? 1U : 0U);
}

namespace detail {

/// The work of a first apply: its effect, a refusal or no effect yet.
inline call_answer work_of_apply(receiver_row& row, call_model const& of,
                                 received_call const& call) {
    if (of.refuses && call.chosen == of.results) return {answer::refused, 0};
    if (call.chosen >= of.results) return {answer::busy, 0};
    auto const result = static_cast<std::uint8_t>(call.chosen + 1);
    if (of.moments == call_moments::query) return {answer::applied, result};
    row.parameters = call.parameters;
    row.result = result;
    row.under = call.under;
    ++row.effects;
    return {answer::applied, result};
}

[[nodiscard]] constexpr call_operation operation_of(step at) {
    return at == step::apply     ? call_operation::apply
           : at == step::confirm ? call_operation::confirm
                                 : call_operation::compensate;
}
[[nodiscard]] constexpr answer answer_of(call_status status) {
    return status == call_status::ok        ? answer::applied
           : status == call_status::refused ? answer::refused
                                            : answer::unavailable;
}

/// A receiver with rows follows the receiver rule.
inline call_answer execute_by_rule(receiver_row& row, call_model const& of,
                                   received_call const& call) {
    constexpr timestamp last{};
    auto const operation = operation_of(call.at);
    bool const has_apply = of.moments != call_moments::confirm_only;
    bool const found = row.now && row.under == call.under;
    receiver_standing const standing{row.now.value_or(receiver_status::closed), has_apply, last};
    auto const decided = settle::decide(found ? &standing : nullptr, {operation, has_apply, last},
                                        last + std::chrono::milliseconds{call.late ? 1 : 0});
    if (decided.step == receiver_step::note) row.now = decided.status;
    call_answer made{answer_of(decided.reply), row.result};
    if (decided.step == receiver_step::work) {
        made = {answer::applied, 0};
        if (operation == call_operation::apply) made = work_of_apply(row, of, call);
        else if (operation == call_operation::compensate) --row.effects;
        else if (!has_apply) ++row.effects;
        auto const worked = made.what == answer::applied   ? call_status::ok
                            : made.what == answer::refused ? call_status::refused
                                                           : call_status::unavailable;
        if (auto const status = status_after(operation, worked)) row.now = *status;
    }
    if (row.now == receiver_status::refused && !of.grade.keeps_refusals) row.now.reset();
    if (operation != call_operation::apply || made.what != answer::applied) made.result = 0;
    return made;
}

/// A receiver without rows remembers the key and the operation, or nothing.
inline call_answer execute_without_rows(receiver_row& row, call_model const& of,
                                        received_call const& call) {
    using enum receiver_status;
    bool const remembers = of.grade.remembers == receiver_grade::memory::keys;
    switch (operation_of(call.at)) {
    case call_operation::apply: {
        if (row.now == refused) return {answer::refused, 0};
        if (row.now && row.under == call.under) return {answer::applied, row.result};
        bool const late = call.late && remembers;
        auto const made = late ? call_answer{answer::refused, 0} : work_of_apply(row, of, call);
        if (made.what == answer::applied && remembers) row.now = applied;
        if (made.what == answer::refused && of.grade.keeps_refusals) row.now = refused;
        return made;
    }
    case call_operation::confirm:
        if (of.moments == call_moments::confirm_only && !row.now) ++row.effects;
        if (remembers) row.now = confirmed;
        break;
    case call_operation::compensate:
        if (!row.compensated) --row.effects;
        row.compensated = remembers;
        break;
    }
    return {answer::applied, 0};
}

} // namespace detail

/// Executes one call at its receiver. A moment at which the participant makes no call is applied.
inline call_answer execute_call(receiver_row& row, call_model const& of,
                                received_call const& call) {
    using enum call_moments;
    bool const asks = call.at == step::apply     ? of.moments != confirm_only
                      : call.at == step::confirm ? confirms(of)
                                                 : of.moments == undoable;
    if (!asks) return {answer::applied, 0};
    if (of.moments == query) return detail::work_of_apply(row, of, call);
    return of.grade.remembers == receiver_grade::memory::rows
               ? detail::execute_by_rule(row, of, call)
               : detail::execute_without_rows(row, of, call);
}

} // namespace testing
SETTLE_END
