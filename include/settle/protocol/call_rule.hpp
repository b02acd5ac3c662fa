// SPDX-License-Identifier: BSL-1.0
// The call rule: the key of a call, and the calls that are needed before an end counts.
//
// The rule does no I/O. The session of services and the exhaustive search call it.
#pragma once

#include <settle/definition/grade.hpp>
#include <settle/protocol/rules.hpp>
#include <settle/protocol/state.hpp>

#include <optional>

SETTLE_BEGIN

/// What the key of a call names, besides its log. It has no epoch: every try has the same key.
struct call_name {
    std::string_view transaction;
    std::string_view participant;
    std::optional<std::uint32_t> line; ///< of a range

    friend constexpr bool operator==(call_name const&, call_name const&) = default;
};

/// Shape:   line - of a range; empty for any other participant
template <typename Rules = detail::protocol_rules>
[[nodiscard]] constexpr call_name name_of_call(std::string_view transaction,
                                               std::string_view participant,
                                               std::optional<std::uint32_t> line) {
    call_name name{transaction, participant, line};
    if (!Rules::keys_name_transactions) name.transaction = {};
    if (!Rules::keys_name_parts) name.participant = {};
    return name;
}

/// True if the apply of a call must be answered before the call is compensated. A receiver that
/// remembers keys alone does not refuse an apply after its compensation, so a late copy of the
/// apply would take effect. Shape:   is_answered - the answer to the apply is known
template <typename Rules = detail::protocol_rules>
[[nodiscard]] constexpr bool applies_before_undo(receiver_grade grade, bool is_answered) {
    bool const keeps_keys = grade.remembers == receiver_grade::memory::keys;
    return Rules::burns_first && keeps_keys && !is_answered;
}

/// True if the refusal of a pivot counts only after its key is closed. A receiver that keeps no
/// refusals may apply a late copy of a refused call.
template <typename Rules = detail::protocol_rules>
[[nodiscard]] constexpr bool closes_after_refusal(receiver_grade grade) {
    return Rules::closes_refused && !grade.keeps_refusals;
}

SETTLE_END
