// SPDX-License-Identifier: BSL-1.0
// Searches that lack one rule of readers, and so end with a wrong answer.
#include "switched_rules.hpp"

using namespace explored;

namespace {

auto const one = runs("t1", transfer{"A", "B", 1});
auto const other = runs("t2", transfer{"B", "A", 2});
auto const both_rich = starts(accounts, account("A", 100), account("B", 100));

bounds calm(std::size_t workers, std::size_t late_writes) {
    return without_crashes(within(workers, late_writes));
}

/// The store of the parts elsewhere stops, and calls end at their time limits.
bounds stops(std::uint32_t own_parts) {
    bounds stopping = with_persons(answered_at_commit(late(calm(1, 0), own_parts)));
    stopping.sweeps = false;
    return stopping;
}

} // namespace

TEST_CASE("rule: a mark is decided under the committed epoch alone") {
    needs(switched::reads_committed_epochs, transfers, two_accounts, one, reads_far(accounts, "B"),
          within(1, 1));
}

TEST_CASE("rule: only an applied or done entry decides a mark") {
    needs(switched::reads_decided_entries, transfers, two_accounts, one, reads_far(accounts, "B"),
          canceling(1, 0));
}

TEST_CASE("rule: a mark without an entry is undecided") {
    needs(switched::reads_absent_as_open, transfers, two_accounts, one, reads_far(accounts, "B"),
          late(within(1, 0)));
}

TEST_CASE("rule: a reader that finds a decision looks again") {
    needs(switched::readers_look_again, transfers, both_rich, one, other, reads_far(accounts, "B"),
          calm(2, 0));
}

TEST_CASE("rule: it looks again, or the answers of two readers are in no order") {
    needs(switched::readers_look_again, purchases, payer, runs("t1", purchase{"A", 1}),
          runs("t2", purchase{"A", 2}), reads_far(accounts, "A"), reads_far(accounts, "A"),
          comparing(calm(2, 0)));
}

TEST_CASE("rule: a reader asks the log again after its second look") {
    needs(switched::readers_ask_again, transfers, both_rich, one, other, reads_far(accounts, "B"),
          calm(2, 0));
}

TEST_CASE("rule: the records of one store are in one look") {
    needs(switched::readers_look_at_all, transfers, two_accounts, one,
          reads_far(accounts, "A", "B"), calm(1, 0));
}

TEST_CASE("rule: a look near the log has the entries, or a second look follows") {
    needs(switched::looks_have_entries, transfers, both_rich, one, other, reads_near(accounts, "B"),
          calm(2, 0));
}

TEST_CASE("rule: a reader looks at its limit after its last look") {
    needs(switched::readers_watch_clock, transfers, two_accounts, one, reads_far(accounts, "B"),
          aging(within(1, 0)));
}

TEST_CASE("rule: a reader of several stores looks far first") {
    needs(switched::readers_look_far_first, transfers, two_accounts, one,
          reads_together(accounts, "A", "B"), calm(1, 0));
}

TEST_CASE("rule: it looks at the log and the records there at once") {
    needs(switched::readers_look_near_at_once, transfers, two_accounts, one,
          reads_together(accounts, "A", "B"), calm(1, 0));
}

TEST_CASE("rule: it looks far again") {
    needs(switched::readers_look_far_again, transfers, two_accounts, one,
          reads_together(accounts, "A", "B"), calm(1, 0));
}

TEST_CASE("rule: it compares versions, and not values") {
    needs(switched::readers_compare_versions, transfers, two_accounts, one,
          runs("t2", transfer{"B", "A", 1}), reads_together(accounts, "A", "B"), calm(1, 0));
}

TEST_CASE("rule: it compares marks, too") {
    needs(switched::readers_compare_marks, transfers, two_accounts, one,
          reads_together(accounts, "A", "B"), calm(1, 0));
}

TEST_CASE("rule: it compares versions of one session, if it compares no marks") {
    bounds stopping = stops(2);
    stopping.versions_of_marks = true;
    without const marks{switched::readers_compare_marks};
    needs(switched::readers_keep_sessions, transfers, purchases, two_accounts,
          runs("t1", purchase{"A", 1}), runs("t2", transfer{"A", "B", 2}),
          reads_together(accounts, "B", "A"), stopping);
}

TEST_CASE("rule: with marks, versions of two sessions give no wrong answer, either") {
    without const it{switched::readers_keep_sessions};
    right<protocol>(transfers, purchases, two_accounts, runs("t1", purchase{"A", 1}),
                    runs("t2", transfer{"A", "B", 2}), reads_together(accounts, "B", "A"),
                    stops(2));
    right<protocol>(transfers, two_accounts, one, runs("t2", transfer{"A", "B", 2}),
                    reads_together(accounts, "A", "B"), stops(1));
}

TEST_CASE("rule: it takes the entries of the one look at the log") {
    needs(switched::readers_keep_entries, transfers, two_accounts, one,
          reads_together(accounts, "A", "B"), calm(1, 0));
}

TEST_CASE("rule: a record that is absent in both looks counts as changed") {
    needs(switched::readers_suspect_absence, settle::type<rename_type>,
          starts(flags, flag{"A", "red"}), runs("t1", renaming{"A", "B", "red"}),
          runs("t2", renaming{"B", "A", "red"}), reads_together(flags, "A", "B"), calm(1, 0));
}

TEST_CASE("rule: a reader of several stores keeps the entries as they are before its first look") {
    needs(switched::readers_hold_first, transfers, two_accounts, one,
          reads_under_hold(accounts, "A", "B"), calm(1, 0));
}

TEST_CASE("rule: a hold stops late writes, too") {
    needs(switched::holds_stop_late_writes, transfers, two_accounts, one,
          reads_under_hold(accounts, "B", "A"), calm(1, 1));
}

TEST_CASE("rule: a reader makes sure that its hold has lasted") {
    needs(switched::readers_check_holds, transfers, two_accounts, one,
          reads_under_hold(accounts, "B", "A"), calm(1, 0));
}
