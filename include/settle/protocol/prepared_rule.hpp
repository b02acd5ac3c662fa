// SPDX-License-Identifier: BSL-1.0
// The prepared rule: what each operation does with the prepared names and the receipt of a part.
//
// The rule does no I/O. The session of prepared parts and the exhaustive search call it.
#pragma once

#include <settle/protocol/rules.hpp>
#include <settle/protocol/state.hpp>

#include <optional>

SETTLE_BEGIN

/// The answer of a resource to a prepare.
enum class prepare_answer : std::uint8_t {
    prepared,    ///< durable, also without this process
    refused,     ///< the work was refused, with a reason; nothing remains
    denied,      ///< the part has a committed receipt already; nothing remains
    busy,        ///< a lock was not free in time, or there was a deadlock; nothing remains
    unavailable, ///< nothing was prepared, and never will be by this call
    unknown      ///< prepared now, later or never; also if the name is prepared already
};

/// The answer of a resource to a commit or a roll back of a name, or to a deny.
enum class end_answer : std::uint8_t {
    ended,       ///< it took effect now
    absent,      ///< this name is neither prepared nor being committed or rolled back
    unavailable, ///< no effect; may be sent again. Also while another session holds the name
    unknown      ///< it took effect at most once, possibly later
};

/// What an apply does with a prepared name of its part, before it prepares.
enum class found_name : std::uint8_t {
    rolled_back, ///< of an earlier claim
    stays,       ///< of this claim, or its rule is switched off
    adopted,     ///< counts as prepared by this apply
    fences       ///< of a later claim: the worker stops
};

/// Shape:   found - the epoch of the name; under - the epoch of the apply
template <typename Rules = detail::protocol_rules>
[[nodiscard]] constexpr found_name before_prepare(epoch found, epoch under) {
    if (found > under) return Rules::applying_fences ? found_name::fences : found_name::stays;
    if (found == under) return found_name::stays;
    if (!Rules::adopts_no_name) return found_name::adopted;
    return Rules::clears_lower_names ? found_name::rolled_back : found_name::stays;
}

/// The answer of a part whose prepare was answered.
[[nodiscard]] constexpr answer answer_of(prepare_answer answer) {
    switch (answer) {
    case prepare_answer::prepared: return answer::applied;
    case prepare_answer::refused: return answer::refused;
    // A cancel or a later claim came first: the worker reads the entry.
    case prepare_answer::denied: return answer::fenced;
    case prepare_answer::busy: return answer::busy;
    case prepare_answer::unavailable: return answer::unavailable;
    default: return answer::unknown;
    }
}

/// True if a cancel rolls back a name. A name with an epoch above `latest` stays: its transaction
/// has the same id and was submitted after a purge.
[[nodiscard]] constexpr bool cancel_rolls_back(epoch found, epoch latest) {
    return found <= latest;
}

/// True if a finish commits a name.
template <typename Rules = detail::protocol_rules>
[[nodiscard]] constexpr bool finish_commits(epoch found, epoch committed) {
    return found == committed || !Rules::commits_committed_name;
}

/// True if backing off and sweeping roll back a name.
template <typename Rules = detail::protocol_rules>
[[nodiscard]] constexpr bool exact_rolls_back(epoch found, epoch exact) {
    return found == exact || !Rules::undo_is_exact;
}

/// True if a name that is no longer prepared, of a part of a committed transaction, was committed.
/// If not, a person has rolled the name back.
/// Shape:   receipt - the epoch in the receipt of the part
template <typename Rules = detail::protocol_rules>
[[nodiscard]] constexpr bool absent_is_committed(std::optional<epoch> receipt, epoch committed) {
    return receipt == committed || !Rules::finish_reads_receipt;
}

SETTLE_END
