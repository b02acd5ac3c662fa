// SPDX-License-Identifier: BSL-1.0
// Each rule of the protocol switched off alone: the search ends wrong, and right with it.
#include "explore_types.hpp"

using namespace explored;

namespace {

using all = settle::detail::protocol_rules;

// One rule is missing from each.
struct without_marks_carry_epochs : all {
    static constexpr bool marks_carry_epochs = false;
};
struct without_adopting_raises : all {
    static constexpr bool adopting_raises = false;
};
struct without_applying_fences : all {
    static constexpr bool applying_fences = false;
};
struct without_finish_looks : all {
    static constexpr bool finish_looks = false;
};
struct without_undo_is_exact : all {
    static constexpr bool undo_is_exact = false;
};
struct without_parts_in_marks : all {
    static constexpr bool parts_in_marks = false;
};
struct without_exclusive_marks : all {
    static constexpr bool exclusive_marks = false;
};
struct without_escrow : all {
    static constexpr bool escrow = false;
};
struct without_claims_raise : all {
    static constexpr bool claims_raise = false;
};
struct without_unknown_claims : all {
    static constexpr bool unknown_claims = false;
};
struct without_all_parts_again : all {
    static constexpr bool all_parts_again = false;
};
struct without_acknowledged_only : all {
    static constexpr bool acknowledged_only = false;
};
struct without_gives_way : all {
    static constexpr bool gives_way = false;
};
struct without_gives_way_anew : all {
    static constexpr bool gives_way_anew = false;
};
struct without_lifetimes : all {
    static constexpr bool lifetimes = false;
};
struct without_changes_compare : all {
    static constexpr bool changes_compare = false;
};
struct without_cancel_compares : all {
    static constexpr bool cancel_compares = false;
};
struct without_births_differ : all {
    static constexpr bool births_differ = false;
};
struct without_sweeps_unlogged : all {
    static constexpr bool sweeps_unlogged = false;
};
struct without_at_once_meets_marks : all {
    static constexpr bool at_once_meets_marks = false;
};
struct without_at_once_compares : all {
    static constexpr bool at_once_compares = false;
};
struct without_one_log : all {
    static constexpr bool one_log = false;
};
struct without_reverses_done : all {
    static constexpr bool reverses_done = false;
};

/// The same search with the rule and without it.
template <typename Lacking, typename... Clauses>
exploration needs(Clauses const&... clauses) {
    auto const kept = explore(clauses...);
    CHECK_MESSAGE(kept, kept);
    auto const lacking = explore<protocol_without<Lacking>>(clauses...);
    CHECK_MESSAGE(!lacking.right, lacking);
    MESSAGE("right in " << kept.states << " states; without the rule wrong after "
                        << lacking.steps << " steps");
    return lacking;
}

auto const transfers = settle::type<transfer_type>;
auto const paints = settle::type<paint_type>;
auto const one = runs("t1", sixty);
auto const enough_for_two = starts(accounts, account("A", 200), account("B", 0));

bounds canceling(std::size_t workers, std::size_t late_writes) {
    bounds made = within(workers, late_writes);
    made.cancels = true;
    return made;
}
bounds aging(std::size_t workers, std::size_t late_writes) {
    bounds made = within(workers, late_writes);
    made.ages = true;
    return made;
}

} // namespace

TEST_CASE("rule: a mark carries the epoch of its apply") {
    needs<without_marks_carry_epochs>(transfers, two_accounts, one, money, within(2, 0));
}

TEST_CASE("rule: an apply that adopts a mark raises it to its own epoch") {
    needs<without_adopting_raises>(transfers, two_accounts, one, money, within(2, 0));
}

TEST_CASE("rule: a finish undoes a mark of another epoch than the committed") {
    needs<without_finish_looks>(transfers, two_accounts, one, money, within(2, 0));
}

TEST_CASE("rule: giving way undoes the marks of exactly its epoch") {
    needs<without_undo_is_exact>(paints, starts(flags, flag{"A", "white"}, flag{"B", "white"}),
                                 runs("t1", paint{"A", "B", "red"}),
                                 runs("t2", paint{"B", "A", "blue"}), within(1, 1));
}

TEST_CASE("rule: a mark names its part") {
    needs<without_parts_in_marks>(transfers, starts(accounts, account("A", 100)),
                                  runs("t1", transfer{"A", "A", 60}), money, within(1, 0));
}

TEST_CASE("rule: an exclusive effect has its record to itself") {
    needs<without_exclusive_marks>(paints, starts(flags, flag{"A", "white"}, flag{"B", "white"}),
                                   runs("t1", paint{"A", "B", "red"}),
                                   runs("t2", paint{"A", "C", "blue"}), within(1, 0));
}

TEST_CASE("rule: a guard holds whichever way the other marks end") {
    needs<without_escrow>(settle::type<loan_type>, transfers, two_accounts,
                          runs("t1", loan{"C", "B", 60}), runs("t2", transfer{"B", "A", 60}),
                          money, within(1, 0));
}

TEST_CASE("rule: a claim raises the epoch") {
    needs<without_claims_raise>(transfers, two_accounts, one, money, within(2, 0));
}

TEST_CASE("rule: an unknown apply is not repeated under its epoch") {
    needs<without_unknown_claims>(transfers, two_accounts, one, money, within(1, 1));
}

TEST_CASE("rule: after a new claim every part is applied again") {
    needs<without_all_parts_again>(transfers, two_accounts, one, money, within(1, 1));
}

TEST_CASE("rule: only an acknowledged insert or claim gives the right to its epoch") {
    bounds no_crashes = within(2, 1);
    no_crashes.crashes = false;
    needs<without_acknowledged_only>(transfers, two_accounts, one, money, no_crashes);
}

TEST_CASE("rule: nobody waits while holding a mark") {
    bounds calm = within(2, 0);
    calm.crashes = false;
    needs<without_gives_way>(paints, starts(flags, flag{"A", "white"}, flag{"B", "white"}),
                             runs("t1", paint{"A", "B", "red"}),
                             runs("t2", paint{"B", "A", "blue"}), calm);
}

TEST_CASE("rule: who gave way begins again under a new epoch") {
    bounds no_crashes = within(2, 1);
    no_crashes.crashes = false;
    needs<without_gives_way_anew>(paints, starts(flags, flag{"A", "white"}, flag{"B", "white"}),
                                  runs("t1", paint{"A", "B", "red"}),
                                  runs("t2", paint{"C", "B", "blue"}), no_crashes);
}

TEST_CASE("rule: an entry that is too old is only canceled") {
    needs<without_lifetimes>(transfers, enough_for_two, one, money, aging(1, 1));
}

TEST_CASE("rule: an entry changes by compare-and-set on its epoch, too") {
    needs<without_changes_compare>(transfers, two_accounts, one, money, within(2, 0));
}

TEST_CASE("rule: a cancel by anyone is a compare-and-set") {
    needs<without_cancel_compares>(transfers, two_accounts, one, money, canceling(2, 0));
}

TEST_CASE("rule: every insert has an epoch of its own") {
    bounds anew = aging(1, 1);
    anew.resubmits = true;
    needs<without_births_differ>(transfers, enough_for_two, one, money, anew);
}

TEST_CASE("rule: a mark without an entry is stray") {
    needs<without_sweeps_unlogged>(transfers, two_accounts, one, money, aging(1, 1));
}

TEST_CASE("rule: what settles at once meets marks as an apply does") {
    needs<without_at_once_meets_marks>(settle::type<loan_type>, transfers, two_accounts,
                                       runs("t1", loan{"A", "B", 160}),
                                       runs("t2", transfer{"B", "A", 150}), money, never_below,
                                       in_one_phase(within(2, 0)));
}

TEST_CASE("rule: what settles at once changes nothing when its entry is there") {
    bounds twice = in_one_phase(within(2, 0));
    twice.calls_again = 1;
    needs<without_at_once_compares>(transfers, two_accounts, runs("t1", transfer{"A", "B", 30}),
                                    money, twice);
}

TEST_CASE("rule: a store belongs to one log") {
    needs<without_one_log>(transfers, two_accounts, one, money, within(2, 0));
}

TEST_CASE("rule: only what is done is reversed") {
    needs<without_reverses_done>(transfers, starts(accounts, account("A", 100), account("B", 100)),
                                 one, reverses("t1"), money, within(1, 0));
}

TEST_CASE("rule: that a higher mark stops an apply is a second line, behind the commit's") {
    right<protocol_without<without_applying_fences>>(transfers, two_accounts, one, money,
                                                     within(2, 0));
}
