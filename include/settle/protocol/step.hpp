// SPDX-License-Identifier: BSL-1.0
// The types that a coordinator and its driver exchange: steps, answers of the log, transitions,
// goals.
#pragma once

#include <settle/protocol/state.hpp>

SETTLE_BEGIN

/// The next step of a transaction, which the driver takes.
enum class step : std::uint8_t {
    insert,           ///< log: insert the entry
    read,             ///< log: read the entry
    claim,            ///< log: raise the epoch and become the owner
    commit,           ///< log: pending or deciding → applied
    close,            ///< log: applied → done, canceling → canceled
    cancel,           ///< log: pending or deciding → canceling, initial → canceled
    apply,            ///< stores: apply the parts that are due
    confirm,          ///< stores: finish the parts that are due, by the committed epoch
    compensate,       ///< stores: undo the parts that are due, up to the epoch of the entry
    back_off,         ///< stores: undo the parts that are due, only under this worker's epoch
    pause,            ///< driver: wait a little, then resume()
    wait,             ///< driver: another owner is at work; wait, then look_again()
    end,              ///< no step is left: `state()` says how the run ended
    one_phase,        ///< one store: write the entry and every part in one native transaction
    keep,             ///< log: write the results of the applied stage; before a pivot also
                      ///< pending → deciding
    commit_and_close, ///< log: pending or deciding → done, if no part has work after the commit
    decide,           ///< log: insert the late entry as `applied`, with the parts in its own store
    refuse,           ///< log: insert the late entry as `canceled`
    force             ///< stores: keep the confirms on the disk, in the sessions that answered them
};

/// True if the step commits in two phases.
[[nodiscard]] constexpr bool commits(step value) noexcept {
    return value == step::commit || value == step::commit_and_close || value == step::decide;
}

/// True if the step certainly inserts an entry.
[[nodiscard]] constexpr bool only_inserts(step value) noexcept {
    return value == step::insert || value == step::decide || value == step::refuse;
}

/// True if a write of the log may be lost when its server ends. A close is: a worker that finds the
/// entry open has nothing left to confirm or to undo, and closes it.
[[nodiscard]] constexpr bool may_be_lost(step value) noexcept { return value == step::close; }

/// True if the step applies parts.
[[nodiscard]] constexpr bool applies(step value) noexcept {
    return value == step::apply || value == step::one_phase;
}
/// True if the step undoes parts.
[[nodiscard]] constexpr bool undoes(step value) noexcept {
    return value == step::compensate || value == step::back_off;
}

[[nodiscard]] constexpr std::string_view name_of(step value) {
    constexpr std::string_view names[]{"insert",     "read",      "claim", "commit",
                                       "close",      "cancel",    "apply", "confirm",
                                       "compensate", "back off",  "pause", "wait",
                                       "end",        "one phase", "keep",  "commit and close",
                                       "decide",     "refuse",    "force"};
    return names[static_cast<std::size_t>(value)];
}

/// The answer of the log to an insert or a compare-and-set.
enum class log_answer : std::uint8_t {
    taken,       ///< the log acknowledged the write
    held_back,   ///< one phase: no write was due, since a part is busy or an earlier transaction of
                 ///< the window is unfinished
    conflict,    ///< the entry was there already, or not in the expected state, epoch and revision
    ended,       ///< to an insert: the entry was there already, and is final
    unavailable, ///< the write took no effect; the same write may be sent again
    unfit,       ///< the write took no effect and never will: the log cannot hold such an entry
    blocked,     ///< the write took no effect: the transaction cannot end before a person repairs a
                 ///< record or the entry
    unknown      ///< the write took effect at most once, possibly later
};

/// True if a write certainly took no effect, for a reason other than the state of the entry.
[[nodiscard]] constexpr bool took_no_effect(log_answer value) noexcept {
    return value == log_answer::unavailable || value == log_answer::unfit ||
           value == log_answer::blocked;
}

/// A compare-and-set of an entry. The log compares the state, the epoch and the revision.
struct transition {
    state from = state::initial;
    epoch from_epoch = 0;
    state to = state::initial;
    epoch to_epoch = 0;
    epoch committed = 0;
    std::uint32_t attempts = 0;
    reason why = reason::none;
    bool takes_owner = false;
    std::uint32_t from_revision = 0;
    std::uint32_t to_revision = 0;
    stage_number stages_kept = 0;
};

/// The goal that a driver gives to a coordinator.
enum class goal : std::uint8_t {
    run,      ///< insert the entry as `pending` and bring it to a final state
    submit,   ///< insert the entry as `initial`
    recover,  ///< bring an existing entry to a final state
    cancel,   ///< cancel an entry of any owner; insert a missing entry as `canceled`
    tombstone ///< insert the entry as `canceled`, or as a bar of a birth; leave an existing entry
              ///< unchanged
};

/// The number of phases of a transaction.
enum class phases : std::uint8_t {
    two, ///< apply all parts, commit, confirm all parts
    one, ///< one native transaction of the store that holds the entry and all parts; an entry that
         ///< began in two phases ends in two
    /// Two, of which the commit is one native transaction with the parts in the log's own store:
    /// they leave no mark. A worker that finds an entry of another worker runs two.
    joined,
    /// The parts elsewhere are applied before there is an entry; the native transaction of the
    /// joined commit inserts it. After a lost answer, or beside another call of the id, the worker
    /// inserts the entry first and goes on as with `joined`.
    late
};

/// The facts that a driver passes to its coordinator after it read an entry or found none.
struct view_of_entry {
    bool mine = false;      ///< the entry's owner is this process
    bool abandoned = false; ///< no owner is at work: the entry is `initial`, its owner's process is
                            ///< gone, or the entry stood still for too long
    epoch fresh = 0;        ///< an epoch unique to the next insert
    epoch barred = 0;       ///< of found_nothing(): the epoch of the bar, 0 if there is none
};

SETTLE_END
