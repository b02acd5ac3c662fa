// SPDX-License-Identifier: BSL-1.0
// The receivers of a search: a row for each key, and the answers to its calls.
#pragma once

#include <settle/protocol/receiver_rule.hpp>
#include <settle/protocol/step.hpp>
#include <settle/testing/explore/call_model.hpp>

#include <optional>

SETTLE_BEGIN
namespace testing {

struct call_answer {
    answer what = answer::nothing;
    std::uint8_t result = 0;
    epoch marked = 0; ///< of answer::other_call
};

/// A late answer to a worker that does not wait for it any more.
struct stray_answer {
    std::optional<call_operation> operation{};
    call_answer reply{};

    [[nodiscard]] std::uint64_t packed() const noexcept {
        if (!operation) return 0;
        return (std::uint64_t{1} + static_cast<std::uint64_t>(*operation)) |
               static_cast<std::uint64_t>(reply.what) << 8U | std::uint64_t{reply.result} << 16U;
    }
};

/// The state of one key at its receiver.
struct receiver_row {
    std::optional<receiver_status> now{};
    std::uint8_t result = 0;
    bool compensated = false;    ///< a receiver of keys alone remembers this operation
    bool forgotten = false;      ///< the row was purged once
    std::int8_t effects = 0;     ///< effects not undone; an undo without effect makes it negative
    call_results parameters = 0; ///< the results that the first call carried
    std::uint8_t transaction = 0;
    epoch under = 0; ///< the epoch in the key, if keys have epochs
    stray_answer stray{};

    [[nodiscard]] std::uint64_t packed() const noexcept {
        return (now ? std::uint64_t{1} + static_cast<std::uint64_t>(*now) : 0U) |
               (compensated ? 1U : 0U) << 6U | (forgotten ? 1U : 0U) << 7U |
               std::uint64_t{result} << 8U | std::uint64_t{parameters} << 16U |
               std::uint64_t{static_cast<std::uint8_t>(effects)} << 32U | under << 40U;
    }
};

/// One call, as its receiver gets it.
/// Shape:   late - the last moment of the call is over, by the receiver's clock; chosen - the
///          number of a first answer, below possible_answers()
struct received_call {
    step at;
    epoch under; ///< in the key; 0 as long as keys have no epochs
    call_results parameters;
    bool late;
    std::size_t chosen;
    bool closes; ///< closes the key of a call that the receiver refused
};

/// The number of answers that a receiver chooses from.
[[nodiscard]] inline std::size_t possible_answers(receiver_row const& row, call_model const& model,
                                                  step current, epoch under, bool late) {
    bool const first = current == step::apply && (!row.now || row.under != under);
    if (!first || model.moments == call_moments::confirm_only) return 1;
    if (late && model.moments != call_moments::query &&
        model.grade.remembers != receiver_grade::memory::nothing) {
        return 1;
    }
    return model.results + (model.refuses ? 1U : 0U) + (model.busy ? 1U : 0U);
}

namespace detail {

inline void take_effect(receiver_row& row, call_model const& model) {
    if (!model.keyed || row.effects == 0) ++row.effects;
}
inline void undo_effect(receiver_row& row, call_model const& model) {
    if (!model.keyed || row.effects == 1) --row.effects;
}

/// The work of a first apply: its effect, a refusal or no effect yet.
inline call_answer work_of_apply(receiver_row& row, call_model const& model,
                                 received_call const& call) {
    if (model.refuses && call.chosen == model.results) return {answer::refused, 0};
    if (call.chosen >= model.results) return {answer::busy, 0};
    auto const result = static_cast<std::uint8_t>(call.chosen + 1);
    if (model.moments == call_moments::query) return {answer::applied, result};
    row.parameters = call.parameters;
    row.result = result;
    row.under = call.under;
    take_effect(row, model);
    return {answer::applied, result};
}

/// The work of a confirm without an apply.
inline void work_of_confirm(receiver_row& row, call_model const& model, received_call const& call) {
    row.parameters = call.parameters;
    take_effect(row, model);
}

[[nodiscard]] constexpr call_operation operation_of(step current) {
    return current == step::apply     ? call_operation::apply
           : current == step::confirm ? call_operation::confirm
                                      : call_operation::compensate;
}
[[nodiscard]] constexpr answer answer_of(call_status status) {
    return status == call_status::ok        ? answer::applied
           : status == call_status::refused ? answer::refused
                                            : answer::unavailable;
}

/// A receiver with rows follows the receiver rule.
inline call_answer execute_by_rule(receiver_row& row, call_model const& model,
                                   received_call const& call) {
    constexpr timestamp last{};
    auto const operation = operation_of(call.at);
    bool const has_apply = model.moments != call_moments::confirm_only;
    bool const repeated = row.now && row.under == call.under;
    receiver_standing const standing{row.now.value_or(receiver_status::closed), has_apply, last};
    auto const decided =
        settle::decide(repeated ? &standing : nullptr, {operation, has_apply, last},
                       last + std::chrono::milliseconds{call.late ? 1 : 0});
    if (decided.step == receiver_step::note) row.now = decided.status;
    call_answer answer{answer_of(decided.reply), row.result};
    if (decided.step == receiver_step::work) {
        answer = {answer::applied, 0};
        if (operation == call_operation::apply) answer = work_of_apply(row, model, call);
        else if (operation == call_operation::compensate) undo_effect(row, model);
        else if (!has_apply) work_of_confirm(row, model, call);
        auto const worked = answer.what == answer::applied   ? call_status::ok
                            : answer.what == answer::refused ? call_status::refused
                                                             : call_status::unavailable;
        if (auto const status = status_after(operation, worked)) row.now = *status;
    }
    if (row.now == receiver_status::refused && !model.grade.keeps_refusals) row.now.reset();
    if (operation != call_operation::apply || answer.what != answer::applied) answer.result = 0;
    return answer;
}

/// A receiver without rows remembers the key and the operation, or nothing.
inline call_answer execute_without_rows(receiver_row& row, call_model const& model,
                                        received_call const& call) {
    using enum receiver_status;
    bool const remembers = model.grade.remembers == receiver_grade::memory::keys;
    switch (operation_of(call.at)) {
    case call_operation::apply: {
        if (row.now == refused) return {answer::refused, 0};
        if (row.now && row.under == call.under) return {answer::applied, row.result};
        bool const late = call.late && remembers;
        auto const answer =
            late ? call_answer{answer::refused, 0} : work_of_apply(row, model, call);
        if (answer.what == answer::applied && remembers) row.now = applied;
        if (answer.what == answer::refused && model.grade.keeps_refusals) row.now = refused;
        return answer;
    }
    case call_operation::confirm:
        if (model.moments == call_moments::confirm_only && !row.now)
            work_of_confirm(row, model, call);
        if (remembers) row.now = confirmed;
        break;
    case call_operation::compensate:
        if (!row.compensated) undo_effect(row, model);
        row.compensated = remembers;
        break;
    case call_operation::query: break;
    }
    return {answer::applied, 0};
}

/// Closes a key without an effect; then no apply takes effect any more.
inline call_answer close_key(receiver_row& row, call_model const& model) {
    if (row.now == receiver_status::applied) return {answer::unavailable, 0};
    bool const keeps_rows = model.grade.remembers == receiver_grade::memory::rows;
    row.now = keeps_rows ? receiver_status::closed : receiver_status::refused;
    return {answer::applied, 0};
}

} // namespace detail

/// Executes one call at its receiver. A moment at which the participant makes no call is applied.
inline call_answer execute_call(receiver_row& row, call_model const& model,
                                received_call const& call) {
    using enum call_moments;
    if (call.closes) return detail::close_key(row, model);
    bool const asks = call.at == step::apply     ? model.moments != confirm_only
                      : call.at == step::confirm ? confirms(model)
                                                 : model.moments == undoable;
    if (!asks) return {answer::applied, 0};
    if (!model.ends && call.at != step::apply) return {answer::unavailable, 0};
    if (model.moments == query) return detail::work_of_apply(row, model, call);
    return model.grade.remembers == receiver_grade::memory::rows
               ? detail::execute_by_rule(row, model, call)
               : detail::execute_without_rows(row, model, call);
}

/// Executes one call at a receiver that stores its row and its effect apart, and stops in between.
/// False if the call needs no two writes.
inline bool execute_half(receiver_row& row, call_model const& model, received_call const& call) {
    receiver_row half = row;
    execute_call(half, model, call);
    if (half.effects == row.effects) return false;
    if (model.writes == row_write::before_effect) {
        half.effects = row.effects;
        row = half;
    } else {
        row.effects = half.effects;
        row.parameters = half.parameters;
    }
    return true;
}

} // namespace testing
SETTLE_END
