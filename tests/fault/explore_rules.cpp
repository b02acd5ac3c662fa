// SPDX-License-Identifier: BSL-1.0
// A search with each rule of the protocol switched off alone is wrong, and correct with the rule.
#include "explore_types.hpp"

using namespace explored;

namespace {

/// Every rule as a switch at run time, so that one search is compiled for all rules.
struct switched {
    static inline bool marks_carry_epochs = true;
    static inline bool adopting_raises = true;
    static inline bool applying_fences = true;
    static inline bool finish_looks = true;
    static inline bool undo_is_exact = true;
    static inline bool parts_in_marks = true;
    static inline bool exclusive_marks = true;
    static inline bool escrow = true;
    static inline bool claims_raise = true;
    static inline bool unknown_claims = true;
    static inline bool all_parts_again = true;
    static inline bool acknowledged_only = true;
    static inline bool backs_off = true;
    static inline bool backs_off_anew = true;
    static inline bool lifetimes = true;
    static inline bool keeps = true;
    static inline bool keeps_acknowledged = true;
    static inline bool old_inserts_keep_nothing = true;
    static inline bool confirms_before_close = true;
    static inline bool compensates_unanswered = true;
    static inline bool records_again = true;
    static inline bool kept_stages_stay = true;
    static inline bool last_stage_first = true;
    static inline bool notes_pivot = true;
    static inline bool pivot_decides = true;
    static inline bool keys_stay = true;
    static inline bool burns_first = true;
    static inline bool last_moment = true;
    static inline bool changes_compare = true;
    static inline bool revisions_compare = true;
    static inline bool cancel_compares = true;
    static inline bool first_epochs_differ = true;
    static inline bool sweeps_unlogged = true;
    static inline bool one_phase_meets_marks = true;
    static inline bool one_phase_compares = true;
    static inline bool one_log = true;
    static inline bool reverses_done = true;

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
    MESSAGE("right in " << kept.states << " states; without the rule wrong after "
                        << lacking.steps << " steps");
    return lacking;
}

auto const transfers = settle::type<transfer_type>;
auto const paints = settle::type<paint_type>;
auto const one = runs("t1", sixty);
auto const enough_for_two = starts(accounts, account("A", 200), account("B", 0));

bounds aging(std::size_t workers, std::size_t late_writes) {
    bounds made = within(workers, late_writes);
    made.ages = true;
    return made;
}

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
    needs(switched::lifetimes, transfers, enough_for_two, one, money, aging(1, 1));
}

TEST_CASE("rule: an entry changes by compare-and-set on its epoch, too") {
    needs(switched::changes_compare, transfers, two_accounts, one, money, within(2, 0));
}

TEST_CASE("rule: a cancel by another worker is a compare-and-set") {
    needs(switched::cancel_compares, transfers, two_accounts, one, money, canceling(2, 0));
}

TEST_CASE("rule: every insert has a unique epoch") {
    bounds anew = aging(1, 1);
    anew.resubmits = true;
    needs(switched::first_epochs_differ, transfers, enough_for_two, one, money, anew);
}

TEST_CASE("rule: a mark without an entry is stray") {
    needs(switched::sweeps_unlogged, transfers, two_accounts, one, money, aging(1, 1));
}

TEST_CASE("rule: one phase respects marks as an apply does") {
    needs(switched::one_phase_meets_marks, settle::type<loan_type>, transfers, two_accounts,
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

TEST_CASE("rule: a compare-and-set looks at the revision, too") {
    needs(switched::revisions_compare, purchases, payer, buys, price_then_seat, canceling(2, 0));
    // The claim of a worker that read the entry before a keep.
    needs(switched::revisions_compare, purchases, payer, buys, price_then_seat, within(2, 0));
}

TEST_CASE("rule: a stage is kept before the next stage is called") {
    needs(switched::keeps, purchases, payer, buys, price_then_seat, within(2, 0));
    needs(switched::keeps, purchases, payer, buys, calls("t1", booking("seat", 1)),
          canceling(2, 0));
}

TEST_CASE("rule: only an acknowledged keep allows the next stage") {
    needs(switched::keeps_acknowledged, purchases, payer, buys, price_then_seat, canceling(1, 1));
    needs(switched::keeps_acknowledged, purchases, payer, buys, price_then_seat, within(2, 0));
}

TEST_CASE("rule: a cancel compensates the calls without an answer, too") {
    needs(switched::compensates_unanswered, purchases, payer, buys,
          calls("t1", booking("seat", 1)), canceling(1, 1));
}

TEST_CASE("rule: after a claim the records are applied again before a later stage") {
    needs(switched::records_again, purchases, payer, buys, price_then_seat, within(2, 0));
}

TEST_CASE("rule: no worker starts over after a later stage was called") {
    needs(switched::kept_stages_stay, purchases, payer, buys, price_then_seat, within(1, 1));
}

TEST_CASE("rule: a cancel compensates the calls before the records") {
    needs(switched::last_stage_first, purchases, payer, buys, calls("t1", booking("seat", 1)),
          canceling(1, 0));
}

TEST_CASE("rule: an apply that ignores marks of higher epochs is still stopped by the commit") {
    without const it{switched::applying_fences};
    right<protocol>(transfers, two_accounts, one, money, within(2, 0));
}

TEST_CASE("rule: the entry is deciding before the pivot is called") {
    needs(switched::notes_pivot, purchases, payer, buys, calls("t1", pivot("card", 1)),
          canceling(2, 0));
}

TEST_CASE("rule: in deciding, only the pivot's answer cancels") {
    needs(switched::pivot_decides, purchases, payer, buys, calls("t1", pivot("card", 1)),
          canceling(2, 0));
}

TEST_CASE("rule: the key of a call has no epoch") {
    needs(switched::keys_stay, purchases, payer, buys, calls("t1", booking("seat", 1)),
          canceling(2, 0));
}

TEST_CASE("rule: a receiver of keys alone answers the apply before its compensation") {
    auto const grade = settle::remembers_keys | settle::keeps_refusals;
    needs(switched::burns_first, purchases, payer, buys,
          calls("t1", graded(booking("seat", 1), grade)), canceling(1, 1));
}

TEST_CASE("rule: a receiver refuses a first apply after the last moment") {
    needs(switched::last_moment, purchases, payer, buys, calls("t1", booking("seat", 1)),
          aging(1, 1));
}
