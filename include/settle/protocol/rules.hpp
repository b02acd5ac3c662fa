// SPDX-License-Identifier: BSL-1.0
// The rules of the protocol by name. A search switches them off one by one, to show that each is
// needed.
#pragma once

#include <settle/version.hpp>

SETTLE_BEGIN
namespace detail {

/// A program runs with all rules. Only a search passes, as a template argument, a derived type that
/// hides some of them. The hiding members may be variables, so that one compiled search can switch
/// each rule; `complete()` of such a type says whether all rules are on.
struct protocol_rules {
    // Rules of the record rule.

    /// A mark carries the epoch of its apply. If off, no operation compares epochs.
    static constexpr bool marks_carry_epochs = true;
    /// An apply raises a lower mark to its own epoch.
    static constexpr bool adopting_raises = true;
    /// An apply that finds a mark with a higher epoch stops its worker.
    static constexpr bool applying_fences = true;
    /// A finish confirms only a mark with the committed epoch.
    static constexpr bool finish_looks = true;
    /// Backing off and sweeping undo only a mark with the exact epoch.
    static constexpr bool undo_is_exact = true;
    /// A mark names its part. If off, all parts of a transaction share one mark on a record.
    static constexpr bool parts_in_marks = true;
    /// An exclusive part needs a record without marks, and its mark keeps other parts away.
    static constexpr bool exclusive_marks = true;
    /// A mark with a birth is adopted, confirmed and undone only under the same birth.
    static constexpr bool births_stand_alone = true;
    /// Guards hold for every outcome of the other marks.
    static constexpr bool escrow = true;

    // Rules of the coordinator.

    /// A claim raises the epoch.
    static constexpr bool claims_raise = true;
    /// An unknown apply is repeated only under a new epoch.
    static constexpr bool unknown_claims = true;
    /// After that claim every part is applied again, not only the unknown part.
    static constexpr bool all_parts_again = true;
    /// An unknown insert or claim gives no right to its epoch.
    static constexpr bool acknowledged_only = true;
    /// A busy worker undoes its marks and starts over, a limited number of times.
    static constexpr bool backs_off = true;
    /// A worker that backed off starts over under a new epoch.
    static constexpr bool backs_off_anew = true;
    /// An apply of a birth whose outcome is unknown is not repeated under that birth.
    static constexpr bool births_apply_once = true;
    /// A call that backed off before it had an entry starts over under a new birth.
    static constexpr bool births_are_fresh = true;
    /// A late entry whose outcome is unknown is not sent again: the worker reads, and undoes
    /// nothing until it knows.
    static constexpr bool late_entries_sent_once = true;
    /// A late entry takes no effect after the last moment of its call.
    static constexpr bool late_entries_expire = true;
    /// A late entry is `applied`, so that its close follows the confirms.
    static constexpr bool late_entries_stay_open = true;
    /// An entry whose confirms were not forced is closed after a forced write of their stores.
    static constexpr bool closes_wait_for_disk = true;
    /// A worker that takes over an `applied` entry forces its stores, too: the confirms of the
    /// earlier worker may not be on the disk.
    static constexpr bool takeovers_force = true;
    /// A forced write keeps only the confirms of its own session. After a lost session, the worker
    /// confirms again.
    static constexpr bool one_session_forces = true;
    /// A call without an entry writes its refusal before it tells it.
    static constexpr bool refusals_are_written = true;
    /// The marks of another call are undone only under an acknowledged entry.
    static constexpr bool others_wait_for_entries = true;
    /// Only a worker under whose claims alone parts were applied leaves parts to its commit.
    static constexpr bool first_joins = true;
    /// An entry that is too old is only canceled.
    static constexpr bool lifetimes = true;

    // Rules of the coordinator for transactions of several stages.

    /// The results of a stage are kept in the entry before the next stage is called.
    static constexpr bool keeps = true;
    /// Only an acknowledged keep allows the next stage.
    static constexpr bool keeps_acknowledged = true;
    /// An insert that keeps a stage takes no effect when the entry is too old: an earlier entry of
    /// the id may have been purged, and its committed calls must stay.
    static constexpr bool old_inserts_keep_nothing = true;
    /// The commit closes only an entry without a part to confirm.
    static constexpr bool confirms_before_close = true;
    /// A cancel compensates also the stage that was called and not kept, answered or not.
    static constexpr bool compensates_unanswered = true;
    /// After a claim every record is applied again before a later stage goes on.
    static constexpr bool records_again = true;
    /// A worker starts over only before the second stage was called.
    static constexpr bool kept_stages_stay = true;
    /// A stage is compensated after later stages that use its results, or if its definition asks.
    static constexpr bool undo_waits = true;
    /// The entry is `deciding` before the pivot is called.
    static constexpr bool notes_pivot = true;
    /// In `deciding`, only the pivot's answer cancels: no other worker, no age and no limit.
    static constexpr bool pivot_decides = true;
    /// The commit stores the results of the last stage: the confirms send them.
    static constexpr bool commit_keeps = true;

    // Rules of calls and their receivers.

    /// The key of a call has no epoch.
    static constexpr bool keys_stay = true;
    /// A receiver that remembers keys alone answers the apply before the call is compensated.
    static constexpr bool burns_first = true;
    /// If a receiver forgets its refusals, the key of a refused pivot is closed first.
    static constexpr bool closes_refused = true;
    /// A receiver refuses a first apply after the call's last moment.
    static constexpr bool last_moment = true;
    /// The key of a call names its transaction.
    static constexpr bool keys_name_transactions = true;
    /// The key of a call names its part.
    static constexpr bool keys_name_parts = true;
    /// An answer belongs to a key and an operation.
    static constexpr bool answers_name_operations = true;
    /// A receiver purges a row only after every clock has passed the last moment.
    static constexpr bool purges_wait = true;

    // Rules of a person who closes a call in an entry.

    /// A person closes a call only once its transaction has committed or is being canceled, or says
    /// in `deciding` whether the pivot was applied.
    static constexpr bool persons_follow_decisions = true;
    /// The closing raises the revision.
    static constexpr bool closing_raises = true;
    /// The person first ends the call at its receiver: no apply takes effect any more.
    static constexpr bool persons_end_keys = true;

    // Rules of prepared parts.

    /// A finish commits only the name with the committed epoch.
    static constexpr bool commits_committed_name = true;
    /// After a claim, lower names of a part are rolled back before it is prepared.
    static constexpr bool clears_lower_names = true;
    /// A lower name of a part does not count as prepared under a later claim.
    static constexpr bool adopts_no_name = true;
    /// The name of a committed part that is absent was committed only if its receipt says so.
    static constexpr bool finish_reads_receipt = true;
    /// A prepare writes a receipt, and so does a cancel: a later prepare is denied.
    static constexpr bool receipts = true;
    /// A sweeper lists the prepared names before it reads their entries.
    static constexpr bool lists_first = true;
    /// A prepared name contains its log, and a sweeper ends only the names of its own log.
    static constexpr bool names_contain_logs = true;

    // Rules of the log, the engine and the sweeper.

    /// A compare-and-set of an entry compares its epoch, too.
    static constexpr bool changes_compare = true;
    /// A compare-and-set of an entry compares its revision, too.
    static constexpr bool revisions_compare = true;
    /// A cancel by any process is a compare-and-set, too.
    static constexpr bool cancel_compares = true;
    /// Every insert has an epoch of its own.
    static constexpr bool first_epochs_differ = true;
    /// A log purges an entry only after every clock has passed its last moment.
    static constexpr bool logs_wait = true;
    /// A mark without an entry is stray.
    static constexpr bool sweeps_unlogged = true;
    /// A sweeper bars the birth of a mark without an entry before it undoes the mark.
    static constexpr bool bars_first = true;
    /// No late entry takes effect over a bar of its birth.
    static constexpr bool bars_hold = true;
    /// A bar is purged like a final entry, not earlier.
    static constexpr bool bars_stay = true;
    /// A store belongs to one log.
    static constexpr bool one_log = true;
    /// One phase respects marks as an apply does.
    static constexpr bool one_phase_respects_marks = true;
    /// One phase changes nothing if its entry exists in any state but `initial`; a joined commit,
    /// if its entry has changed.
    static constexpr bool one_phase_compares = true;
    /// Only a transaction that is done is reversed.
    static constexpr bool reverses_done = true;
    /// The next try to reverse a transaction begins only after the earlier one was canceled.
    static constexpr bool reverses_in_order = true;

    // Rules of readers of decided transactions.

    /// A mark counts as decided only if its epoch is the committed epoch of its entry.
    static constexpr bool reads_committed_epochs = true;
    /// A mark counts as decided only if its entry is `applied` or `done`.
    static constexpr bool reads_decided_entries = true;
    /// A mark without an entry is undecided.
    static constexpr bool reads_absent_as_open = true;
    /// A reader that finds a transaction decided looks at the records again.
    static constexpr bool readers_look_again = true;
    /// After that look it asks the log about the marks that it does not know as decided.
    static constexpr bool readers_ask_again = true;
    /// All records that are read from one store are in one look.
    static constexpr bool readers_look_at_all = true;
    /// A reader in the log's own store has the entries in its look, or it looks again.
    static constexpr bool looks_have_entries = true;
    /// A reader looks at its limit after its last look.
    static constexpr bool readers_watch_clock = true;
    /// A reader of several stores that makes nobody wait looks first at the stores that are not
    /// the log's.
    static constexpr bool readers_look_far_first = true;
    /// It then looks at the records of the log's store and at all entries at once.
    static constexpr bool readers_look_near_at_once = true;
    /// It then looks at the other stores again.
    static constexpr bool readers_look_far_again = true;
    /// It compares versions, which differ after each change of a value, and not the values.
    static constexpr bool readers_compare_versions = true;
    /// It compares versions of one session with the server alone.
    static constexpr bool readers_keep_sessions = true;
    /// It compares the marks, too.
    static constexpr bool readers_compare_marks = true;
    /// It takes the entries of that one look at the log, and no later ones.
    static constexpr bool readers_keep_entries = true;
    /// A record that is absent in both looks counts as changed.
    static constexpr bool readers_suspect_absence = true;
    /// Any other reader of several stores keeps the entries as they are before its first look.
    static constexpr bool readers_hold_first = true;
    /// While a reader keeps the entries as they are, no late write changes one.
    static constexpr bool holds_stop_late_writes = true;
    /// After its last look, that reader makes sure that its hold has lasted.
    static constexpr bool readers_check_holds = true;
};

} // namespace detail
SETTLE_END
