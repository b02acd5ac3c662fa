// SPDX-License-Identifier: BSL-1.0
// The rules of the protocol as switches, for searches that lack one of them.
#pragma once

#include "explore_types.hpp"

namespace explored {

/// Every rule as a switch at run time, so that one search is compiled for all rules.
struct switched {
    static inline bool marks_carry_epochs = true;
    static inline bool adopting_raises = true;
    static inline bool applying_fences = true;
    static inline bool finish_looks = true;
    static inline bool undo_is_exact = true;
    static inline bool parts_in_marks = true;
    static inline bool exclusive_marks = true;
    static inline bool births_stand_alone = true;
    static inline bool escrow = true;
    static inline bool claims_raise = true;
    static inline bool unknown_claims = true;
    static inline bool all_parts_again = true;
    static inline bool acknowledged_only = true;
    static inline bool backs_off = true;
    static inline bool backs_off_anew = true;
    static inline bool births_apply_once = true;
    static inline bool births_are_fresh = true;
    static inline bool late_entries_sent_once = true;
    static inline bool late_entries_expire = true;
    static inline bool late_entries_stay_open = true;
    static inline bool closes_wait_for_disk = true;
    static inline bool takeovers_force = true;
    static inline bool one_session_forces = true;
    static inline bool refusals_are_written = true;
    static inline bool others_wait_for_entries = true;
    static inline bool first_joins = true;
    static inline bool lifetimes = true;
    static inline bool keeps = true;
    static inline bool keeps_acknowledged = true;
    static inline bool old_inserts_keep_nothing = true;
    static inline bool confirms_before_close = true;
    static inline bool compensates_unanswered = true;
    static inline bool records_again = true;
    static inline bool kept_stages_stay = true;
    static inline bool undo_waits = true;
    static inline bool notes_pivot = true;
    static inline bool pivot_decides = true;
    static inline bool commit_keeps = true;
    static inline bool keys_stay = true;
    static inline bool burns_first = true;
    static inline bool last_moment = true;
    static inline bool closes_refused = true;
    static inline bool keys_name_transactions = true;
    static inline bool keys_name_parts = true;
    static inline bool answers_name_operations = true;
    static inline bool purges_wait = true;
    static inline bool persons_follow_decisions = true;
    static inline bool closing_raises = true;
    static inline bool persons_end_keys = true;
    static inline bool commits_committed_name = true;
    static inline bool clears_lower_names = true;
    static inline bool adopts_no_name = true;
    static inline bool finish_reads_receipt = true;
    static inline bool receipts = true;
    static inline bool lists_first = true;
    static inline bool names_contain_logs = true;
    static inline bool changes_compare = true;
    static inline bool revisions_compare = true;
    static inline bool cancel_compares = true;
    static inline bool first_epochs_differ = true;
    static inline bool logs_wait = true;
    static inline bool sweeps_unlogged = true;
    static inline bool bars_first = true;
    static inline bool bars_hold = true;
    static inline bool bars_stay = true;
    static inline bool one_phase_respects_marks = true;
    static inline bool one_phase_compares = true;
    static inline bool one_log = true;
    static inline bool reverses_done = true;
    static inline bool reverses_in_order = true;
    static inline bool reads_committed_epochs = true;
    static inline bool reads_decided_entries = true;
    static inline bool reads_absent_as_open = true;
    static inline bool readers_look_again = true;
    static inline bool readers_ask_again = true;
    static inline bool readers_look_at_all = true;
    static inline bool looks_have_entries = true;
    static inline bool readers_watch_clock = true;
    static inline bool readers_look_far_first = true;
    static inline bool readers_look_near_at_once = true;
    static inline bool readers_look_far_again = true;
    static inline bool readers_compare_versions = true;
    static inline bool readers_keep_sessions = true;
    static inline bool readers_compare_marks = true;
    static inline bool readers_keep_entries = true;
    static inline bool readers_suspect_absence = true;
    static inline bool readers_hold_first = true;
    static inline bool holds_stop_late_writes = true;
    static inline bool readers_check_holds = true;

    static inline bool all_on = true;
    static bool complete() { return all_on; }
};

/// Switches a rule off while the object exists.
class without {
public:
    explicit without(bool& rule) : rule_(rule) { rule_ = switched::all_on = false; }
    without(without const&) = delete;
    without& operator=(without const&) = delete;
    ~without() { rule_ = switched::all_on = true; }

private:
    bool& rule_;
};

using protocol = protocol_without<switched>;

/// The same search with the rule and without it.
template <typename... Clauses>
exploration needs(bool& rule, Clauses const&... clauses) {
    auto const kept = explore<protocol>(clauses...);
    CHECK_MESSAGE(kept, kept);
    without const it{rule};
    auto const lacking = explore<protocol>(clauses...);
    CHECK_MESSAGE(!lacking.right, lacking);
    MESSAGE("right in " << kept.states << " states; without the rule wrong after " << lacking.steps
                        << " steps");
    return lacking;
}

} // namespace explored
