// SPDX-License-Identifier: BSL-1.0
// The entry rule: which changes the log makes to an entry, and what they make of it.
//
// The rule does no I/O. The log in memory, the closing by a person and the exhaustive search call
// it; another log compares the same in the language of its database.
#pragma once

#include <settle/protocol/entry.hpp>
#include <settle/protocol/rules.hpp>
#include <settle/protocol/step.hpp>

SETTLE_BEGIN

/// True if a compare-and-set changes an entry.
/// Shape:   action - the step that sends the change
template <typename Rules = detail::protocol_rules>
[[nodiscard]] constexpr bool may_change(standing const& current, transition const& change,
                                        step action) {
    if (!Rules::cancel_compares && action == step::cancel && !is_final(current.state)) return true;
    return current.state == change.from &&
           (current.epoch_number == change.from_epoch || !Rules::changes_compare) &&
           (current.revision == change.from_revision || !Rules::revisions_compare);
}

/// True if an insert takes effect although an entry is there: over the bar that its worker has
/// read. No late entry takes effect over a bar. Shape:   replaced - the epoch of that bar; 0 if the
/// worker has read none
template <typename Rules = detail::protocol_rules>
[[nodiscard]] constexpr bool may_replace(standing const& current, epoch replaced) {
    return current.state == state::barred &&
           (current.epoch_number == replaced || !Rules::bars_hold);
}

/// Changes the fields of an entry that the coordinator reads.
/// Shape:   Entry - has the members of a standing
template <typename Entry>
constexpr void change_entry(Entry& changed, transition const& change) {
    changed.state = change.to;
    changed.epoch_number = change.to_epoch;
    changed.committed = change.committed;
    changed.attempts = change.attempts;
    changed.revision = change.to_revision;
    changed.stages_kept = change.stages_kept;
}

/// The standing of an entry after a change.
[[nodiscard]] constexpr standing standing_after(transition const& change) {
    standing after;
    change_entry(after, change);
    return after;
}

/// True if an insert takes no effect after its last moment, since an earlier entry of the id may
/// have been purged: the insert keeps a stage, whose calls would stay, or it commits.
template <typename Rules = detail::protocol_rules>
[[nodiscard]] constexpr bool has_last_moment(transition const& inserted) {
    return (inserted.stages_kept != 0 && Rules::old_inserts_keep_nothing) ||
           (inserted.to == state::applied && Rules::late_entries_expire);
}

/// True if a change stores the results that its worker has.
template <typename Rules = detail::protocol_rules>
[[nodiscard]] constexpr bool stores_results(step action) {
    return action == step::keep || (commits(action) && Rules::commit_keeps);
}

/// True if the applied parts of a one-phase transaction, or of a joined commit, are confirmed;
/// otherwise they are undone.
/// Shape:   reply - the answer to the write of its entry; to - the state that was written
template <typename Rules = detail::protocol_rules>
[[nodiscard]] constexpr bool confirms_one_phase(log_answer reply, state to) {
    bool const decides = to == state::done || to == state::applied;
    return decides && (reply == log_answer::taken || !Rules::one_phase_compares);
}

/// True if a transaction may be reversed.
template <typename Rules = detail::protocol_rules>
[[nodiscard]] constexpr bool may_reverse(state state) {
    return state == state::done || !Rules::reverses_done;
}

/// True if a try to reverse a transaction is over, so that the next one may begin.
template <typename Rules = detail::protocol_rules>
[[nodiscard]] constexpr bool may_reverse_again(state earlier) {
    return earlier == state::canceled || !Rules::reverses_in_order;
}

/// A change to another state that keeps everything else.
[[nodiscard]] constexpr transition transition_to(standing const& current, state to) {
    transition change;
    change.from = current.state;
    change.from_epoch = change.to_epoch = current.epoch_number;
    change.to = to;
    change.committed = current.committed;
    change.attempts = current.attempts;
    change.from_revision = change.to_revision = current.revision;
    change.stages_kept = current.stages_kept;
    return change;
}

/// True if a person may close a call in an entry.
/// Shape:   has_outcome - the person says whether a pivot was applied
template <typename Rules = detail::protocol_rules>
[[nodiscard]] constexpr bool may_close(state current, bool has_outcome) {
    if (current == state::deciding) return has_outcome;
    bool const ends = current == state::applied || current == state::canceling ||
                      (current == state::pending && !Rules::persons_follow_decisions);
    return ends && !has_outcome;
}

/// The change by which a person closes a part in its entry.
/// Shape:   cancels - the part is a pivot that was not applied
template <typename Rules = detail::protocol_rules>
[[nodiscard]] constexpr transition closing_of(standing const& current, bool cancels = false) {
    auto change = transition_to(current, cancels ? state::canceling : current.state);
    if (cancels) {
        ++change.to_epoch;
        change.why = reason::cancel_asked;
        change.takes_owner = true;
    } else if (Rules::closing_raises) {
        ++change.to_revision;
    }
    return change;
}

SETTLE_END
