// SPDX-License-Identifier: BSL-1.0
// A search with each rule of the protocol switched off alone is wrong, and correct with the rule.
#include "switched_rules.hpp"

using namespace explored;

namespace {

auto const paints = settle::type<paint_type>;
auto const one = runs("t1", sixty);
auto const enough_for_two = starts(accounts, account("A", 200), account("B", 0));

} // namespace

TEST_CASE("rule: a mark carries the epoch of its apply") {
    needs(switched::marks_carry_epochs, transfers, two_accounts, one, money, within(2, 0));
}

TEST_CASE("rule: an apply that adopts a mark raises the mark to its own epoch") {
    needs(switched::adopting_raises, transfers, two_accounts, one, money, within(2, 0));
}

TEST_CASE("rule: a finish undoes a mark of another epoch than the committed epoch") {
    needs(switched::finish_looks, transfers, two_accounts, one, money, within(2, 0));
}

TEST_CASE("rule: backing off undoes the marks of exactly its epoch") {
    needs(switched::undo_is_exact, paints, starts(flags, flag{"A", "white"}, flag{"B", "white"}),
          runs("t1", paint{"A", "B", "red"}), runs("t2", paint{"B", "A", "blue"}), within(1, 1));
}

TEST_CASE("rule: a mark names its part") {
    needs(switched::parts_in_marks, transfers, starts(accounts, account("A", 100)),
          runs("t1", transfer{"A", "A", 60}), money, within(1, 0));
}

TEST_CASE("rule: an exclusive effect needs a record without marks") {
    needs(switched::exclusive_marks, paints, starts(flags, flag{"A", "white"}, flag{"B", "white"}),
          runs("t1", paint{"A", "B", "red"}), runs("t2", paint{"A", "C", "blue"}), within(1, 0));
}

TEST_CASE("rule: a guard holds for every outcome of the other marks") {
    needs(switched::escrow, settle::type<loan_type>, transfers, two_accounts,
          runs("t1", loan{"C", "B", 60}), runs("t2", transfer{"B", "A", 60}), money, within(1, 0));
}

TEST_CASE("rule: a claim raises the epoch") {
    needs(switched::claims_raise, transfers, two_accounts, one, money, within(2, 0));
}

TEST_CASE("rule: an unknown apply is not repeated under its epoch") {
    needs(switched::unknown_claims, transfers, two_accounts, one, money, within(1, 1));
}

TEST_CASE("rule: after a new claim every part is applied again") {
    needs(switched::all_parts_again, transfers, two_accounts, one, money, within(1, 1));
}

TEST_CASE("rule: only a worker under whose claims alone parts were applied joins them") {
    needs(switched::first_joins, transfers, two_accounts, one, money, joined(within(2, 0)));
}

TEST_CASE("rule: a joined commit compares the entry") {
    needs(switched::one_phase_compares, transfers, two_accounts, one, money, joined(within(2, 0)));
}

TEST_CASE("rule: a joined commit respects the marks of others") {
    needs(switched::one_phase_respects_marks, paints,
          starts(flags, flag{"A", "white"}, flag{"B", "white"}), runs("t1", paint{"A", "B", "red"}),
          runs("t2", paint{"B", "A", "blue"}), joined(within(1, 0)));
}

TEST_CASE("rule: only an acknowledged insert or claim gives the right to its epoch") {
    bounds no_crashes = within(2, 1);
    no_crashes.crashes = false;
    needs(switched::acknowledged_only, transfers, two_accounts, one, money, no_crashes);
}

TEST_CASE("rule: no worker waits while its transaction holds a mark") {
    bounds calm = within(2, 0);
    calm.crashes = false;
    needs(switched::backs_off, paints, starts(flags, flag{"A", "white"}, flag{"B", "white"}),
          runs("t1", paint{"A", "B", "red"}), runs("t2", paint{"B", "A", "blue"}), calm);
}

TEST_CASE("rule: after backing off, a transaction starts over under a new epoch") {
    bounds no_crashes = within(2, 1);
    no_crashes.crashes = false;
    needs(switched::backs_off_anew, paints, starts(flags, flag{"A", "white"}, flag{"B", "white"}),
          runs("t1", paint{"A", "B", "red"}), runs("t2", paint{"C", "B", "blue"}), no_crashes);
}

TEST_CASE("rule: an expired entry is only canceled") {
    needs(switched::lifetimes, transfers, enough_for_two, one, money, aging(within(1, 1)));
}

TEST_CASE("rule: an entry changes by compare-and-set on its epoch, too") {
    needs(switched::changes_compare, transfers, two_accounts, one, money, within(2, 0));
}

TEST_CASE("rule: a cancel by another worker is a compare-and-set") {
    needs(switched::cancel_compares, transfers, two_accounts, one, money, canceling(2, 0));
}

TEST_CASE("rule: every insert has a unique epoch") {
    bounds anew = aging(within(1, 1));
    anew.resubmits = true;
    needs(switched::first_epochs_differ, transfers, enough_for_two, one, money, anew);
}

TEST_CASE("rule: a mark without an entry is stray") {
    needs(switched::sweeps_unlogged, transfers, two_accounts, one, money, aging(within(1, 1)));
}

TEST_CASE("rule: one phase respects marks as an apply does") {
    needs(switched::one_phase_respects_marks, settle::type<loan_type>, transfers, two_accounts,
          runs("t1", loan{"A", "B", 160}), runs("t2", transfer{"B", "A", 150}), money, never_below,
          in_one_phase(within(2, 0)));
}

TEST_CASE("rule: one phase changes nothing if its entry exists") {
    bounds twice = in_one_phase(within(2, 0));
    twice.calls_again = 1;
    needs(switched::one_phase_compares, transfers, two_accounts, runs("t1", transfer{"A", "B", 30}),
          money, twice);
}

TEST_CASE("rule: a store belongs to one log") {
    needs(switched::one_log, transfers, two_accounts, one, money, within(2, 0));
}

TEST_CASE("rule: only a transaction that is done is reversed") {
    needs(switched::reverses_done, transfers,
          starts(accounts, account("A", 100), account("B", 100)), one, reverses("t1"), money,
          within(1, 0));
}

TEST_CASE("rule: a reversal is tried again only after it was canceled") {
    needs(switched::reverses_in_order, transfers,
          starts(accounts, account("A", 100), account("B", 100)), one, reverses("t1"),
          reverses("t1"), money, canceling(1, 0));
}

TEST_CASE("rule: an apply that ignores marks of higher epochs is still stopped by the commit") {
    without const it{switched::applying_fences};
    right<protocol>(transfers, two_accounts, one, money, within(2, 0));
}
