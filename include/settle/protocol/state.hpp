// SPDX-License-Identifier: BSL-1.0
// The basic types of the protocol: states, answers, reasons, epochs, parts.
#pragma once

#include <settle/version.hpp>

#include <array>
#include <compare>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

SETTLE_BEGIN

/// `initial` → `pending` → `applied` → `done`; `pending` → `canceling` → `canceled`;
/// `initial` → `canceled`; in one phase also `initial` → `done`. With a pivot `pending` →
/// `deciding` → `applied` or `canceling`: in `deciding` the pivot may have been called, and only
/// its answer decides. A type that confirms no part becomes `done` instead of `applied`. A late
/// entry is inserted as `applied` or `canceled`. `barred` is the trace of a sweep: the id is free,
/// and no call with a birth up to the epoch of the bar inserts its late entry any more.
enum class state : std::uint8_t {
    initial,
    pending,
    applied,
    done,
    canceling,
    canceled,
    deciding,
    barred
};

[[nodiscard]] constexpr std::string_view name_of(state value) {
    constexpr std::string_view names[]{"initial",   "pending",  "applied",  "done",
                                       "canceling", "canceled", "deciding", "barred"};
    return names[static_cast<std::size_t>(value)];
}

inline constexpr std::array all_states{state::initial,  state::pending,   state::applied,
                                       state::done,     state::canceling, state::canceled,
                                       state::deciding, state::barred};

/// True if no worker changes an entry any more. A later call of the id may replace a bar.
[[nodiscard]] constexpr bool is_final(state value) {
    return value == state::done || value == state::canceled || value == state::barred;
}

/// True if an entry may go from one state to another, or stay in it under a new owner.
/// Shape:   confirms - a part of its type has work after the commit
[[nodiscard]] constexpr bool may_follow(state from, state to, bool confirms = true) {
    using enum state;
    switch (from) {
    case initial: return to == pending || to == canceled || to == done; // done in one phase
    case pending:
        if (to == deciding) return true;
        [[fallthrough]];
    case deciding:
        return to == from || to == canceling || to == applied || (to == done && !confirms);
    case applied: return to == applied || to == done;
    case canceling: return to == canceling || to == canceled;
    default: return false;
    }
}

/// Why a transaction was canceled, or ended in a copy of its log.
enum class reason : std::uint8_t {
    none,
    guard_failed,
    record_missing,
    record_exists,
    busy,
    overflow,
    two_parts_name_one_record,
    expired,
    cancel_asked,
    mark_without_entry,
    record_unusable,
    refused,                 ///< a service refused its call, or the work of a prepared part refused
    unavailable,             ///< a service was unavailable at the last permitted try
    unanswered,              ///< the outcome of a call was unknown after the last permitted try
    closed_in_copy,          ///< a copy of the log was closed; the original log decides
    closed_in_copy_undecided ///< the same, while the outcome of the pivot was unknown
};

[[nodiscard]] constexpr std::string_view name_of(reason value) {
    constexpr std::string_view names[]{"none",
                                       "guard failed",
                                       "record missing",
                                       "record exists",
                                       "busy",
                                       "overflow",
                                       "two parts name one record",
                                       "expired",
                                       "cancel asked",
                                       "mark without entry",
                                       "record unusable",
                                       "refused",
                                       "unavailable",
                                       "unanswered",
                                       "closed in a copy of the log",
                                       "closed in a copy of the log, its pivot undecided"};
    return names[static_cast<std::size_t>(value)];
}

/// Every reason but `none`, in the order of their numbers.
inline constexpr auto all_reasons = [] {
    std::array<reason, static_cast<std::size_t>(reason::closed_in_copy_undecided)> all{};
    for (std::size_t at = 0; at < all.size(); ++at) all[at] = static_cast<reason>(at + 1);
    return all;
}();

/// True if an error of a store, a service or the log is behind the reason. The entry keeps its
/// text.
[[nodiscard]] constexpr bool has_text(reason value) {
    return value == reason::record_unusable || value == reason::refused ||
           value == reason::unavailable || value == reason::unanswered;
}

/// The answer of a store to one part at one step.
enum class answer : std::uint8_t {
    none,    ///< no answer yet
    applied, ///< took effect, now or at an earlier try
    nothing, ///< an undo or a finish found no mark to pull
    fenced,  ///< the part already has a mark with a higher epoch
    guard_failed,
    record_missing,
    record_exists,
    overflow,
    two_parts,       ///< the mark of another part of the same transaction is in the way
    record_unusable, ///< the record is damaged, or its store refuses the change for good
    busy,            ///< a mark is in the way; the transaction may start over
    unavailable,     ///< took no effect; may be sent again
    unknown,         ///< took effect at most once, possibly later
    refused,         ///< a service or the work of a prepared part; only to an apply
    other_call,      ///< the part has the mark of another call of the id; only to an apply
    later            ///< no store's answer: another part is compensated first
};

[[nodiscard]] constexpr std::string_view name_of(answer value) {
    constexpr std::string_view names[]{"none",
                                       "applied",
                                       "nothing",
                                       "fenced",
                                       "guard failed",
                                       "record missing",
                                       "record exists",
                                       "overflow",
                                       "two parts name one record",
                                       "record unusable",
                                       "busy",
                                       "unavailable",
                                       "unknown",
                                       "refused",
                                       "marked by another call",
                                       "after another part"};
    return names[static_cast<std::size_t>(value)];
}

/// The reason for which an answer cancels its transaction, or `none` if it does not.
[[nodiscard]] constexpr reason reason_of(answer value) {
    switch (value) {
    case answer::guard_failed: return reason::guard_failed;
    case answer::record_missing: return reason::record_missing;
    case answer::record_exists: return reason::record_exists;
    case answer::overflow: return reason::overflow;
    case answer::two_parts: return reason::two_parts_name_one_record;
    case answer::record_unusable: return reason::record_unusable;
    case answer::refused: return reason::refused;
    default: return reason::none;
    }
}

/// The fencing number of an entry. 0 is no epoch: the mark or entry is from another program.
using epoch = std::uint64_t;

/// Every epoch but a birth is below this limit, so that a reader that uses doubles keeps it exact.
inline constexpr epoch epoch_limit = epoch{1} << 53;

/// First epochs grow by this number each millisecond. An entry has far fewer claims.
inline constexpr epoch epochs_per_millisecond = epoch{1} << 11;

/// The least birth. A birth is the epoch of a call that applies its parts before it has an entry.
/// It is a name rather than a number: no operation adopts, confirms or undoes the mark of another
/// birth. Only a bar compares births.
inline constexpr epoch least_birth = epoch{1} << 62;
/// Every birth, also one that claims have raised, is below this limit: a store keeps it as a signed
/// number.
inline constexpr epoch birth_limit = (epoch{1} << 63) - 1;
/// Births grow by this number each second.
inline constexpr epoch births_per_second = epoch{1} << 31;

[[nodiscard]] constexpr bool is_birth(epoch value) { return value >= least_birth; }

/// True if both epochs can be of claims of one entry, so that the higher one is the later one.
[[nodiscard]] constexpr bool are_comparable(epoch first, epoch second) {
    return first == second || (!is_birth(first) && !is_birth(second));
}

using transaction_id = std::string;

/// The number of a stage. Parts of one stage are applied together; stage 0 has the records.
using stage_number = std::uint8_t;

/// The stages of a transaction type.
struct stage_plan {
    stage_number count = 1;
    bool has_pivot = false; ///< the last stage is a single call that cannot be undone
    bool confirms = true;   ///< a part has work after the commit; records always have
    /// The insert keeps stage 0: the stage has no part, and the next stage is no pivot.
    bool keeps_at_insert = false;
    bool undone_by_stage = false; ///< each stage is compensated after all later stages

    constexpr stage_plan() = default;
    constexpr stage_plan(stage_number stages, bool pivot = false)
        : count(stages), has_pivot(pivot) {}
    friend constexpr bool operator==(stage_plan const&, stage_plan const&) = default;
};

/// The place of a participant in the order of compensations.
struct undo_place {
    std::uint32_t participant = 0;
    stage_number stage = 0;
    std::uint64_t after = 0; ///< a bit for each participant that is compensated before it

    /// The bit of a participant in the places of others.
    [[nodiscard]] static constexpr std::uint64_t bit(std::size_t participant) {
        return participant < 64 ? std::uint64_t{1} << participant : 0;
    }
};

/// The number of a part: its participant, and in a range its line.
struct part_number {
    std::uint32_t participant = 0;
    std::uint32_t line = 0;

    friend constexpr auto operator<=>(part_number const&, part_number const&) = default;
};

/// Mixes one value into a hash (a 64-bit finaliser, so that near values land far apart).
[[nodiscard]] constexpr std::size_t hash_mix(std::size_t seed, std::uint64_t value) {
    value += 0x9e3779b97f4a7c15U + (seed << 6U) + (seed >> 2U);
    value = (value ^ (value >> 30U)) * 0xbf58476d1ce4e5b9U;
    value = (value ^ (value >> 27U)) * 0x94d049bb133111ebU;
    return static_cast<std::size_t>(seed ^ value ^ (value >> 31U));
}

SETTLE_END
