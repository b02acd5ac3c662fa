// SPDX-License-Identifier: BSL-1.0
// Searches of sagas with a rule switched off alone are wrong, and correct with the rule.
#include "switched_rules.hpp"

using namespace explored;

namespace {

auto const enough_for_two = starts(accounts, account("A", 200));

/// Shape:   steps - the length of the shortest wrong run without the rule
template <typename... Clauses>
void needs_after(std::size_t steps, bool& rule, Clauses const&... clauses) {
    auto const lacking = needs(rule, clauses...);
    CHECK_MESSAGE(lacking.steps == steps, lacking);
}

/// As above, of a purchase with calls.
template <typename... Calls>
void saga_needs(bool& rule, std::size_t steps, bounds const& all, Calls const&... made) {
    needs_after(steps, rule, purchases, payer, buys, calls("t1", made...), all);
}

} // namespace

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
    needs(switched::compensates_unanswered, purchases, payer, buys, calls("t1", booking("seat", 1)),
          canceling(1, 1));
}

TEST_CASE("rule: after a claim the records are applied again before a later stage") {
    needs(switched::records_again, purchases, payer, buys, price_then_seat, within(2, 0));
}

TEST_CASE("rule: no worker starts over after a later stage was called") {
    needs(switched::kept_stages_stay, purchases, payer, buys, price_then_seat, within(1, 1));
}

TEST_CASE("rule: a cancel compensates a call after the calls that use its result") {
    needs(switched::undo_waits, purchases, payer, buys,
          calls("t1", booking("seat", 1), booking("room", 2)), canceling(1, 0));
}

TEST_CASE("rule: a cancel compensates calls and records in the order that a definition asks for") {
    needs(switched::undo_waits, purchases, payer, buys, calls("t1", in_order(booking("seat", 1))),
          canceling(1, 0));
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
          aging(within(1, 1)));
}

TEST_CASE("rule: the commit stores the results of the last stage") {
    call_model card = pivot("card", 1);
    card.results = 2;
    saga_needs(switched::commit_keeps, 9, canceling(1, 1), card, notice("mail", 1));
}

TEST_CASE("rule: if a receiver forgets its refusals, the key of a refused pivot is closed") {
    saga_needs(switched::closes_refused, 11, canceling(1, 1),
               pivot("card", 1, settle::remembers_keys | settle::closes_keys));
}

TEST_CASE("rule: the key of a call names its transaction") {
    needs_after(5, switched::keys_name_transactions, purchases, enough_for_two, buys,
                runs("t2", purchase{"A", 70}), calls("t1", booking("seat", 1)),
                calls("t2", booking("seat", 1)), within(1, 0));
}

TEST_CASE("rule: the key of a call names its part") {
    saga_needs(switched::keys_name_parts, 11, within(1, 0), booking("seat", 1), booking("back", 1));
}

TEST_CASE("rule: an answer belongs to a key and an operation") {
    bounds all = canceling(1, 1);
    all.swaps = true;
    saga_needs(switched::answers_name_operations, 11, all, booking("seat", 1));
}

TEST_CASE("rule: a receiver purges a row only after every clock has passed the last moment") {
    bounds all = aging(within(1, 1));
    all.clocks_differ = true;
    saga_needs(switched::purges_wait, 12, all, booking("seat", 1));
}

TEST_CASE("rule: a log purges an entry only after every clock has passed the last moment") {
    bounds limits = aging(within(1, 1));
    limits.clocks_differ = true;
    needs_after(21, switched::logs_wait, purchases, enough_for_two, buys,
                calls("t1", booking("seat", 1)), limits);
}

TEST_CASE("rule: a person who closes a call raises the revision") {
    bounds all = with_persons(within(1, 1));
    all.crashes = false;
    saga_needs(switched::closing_raises, 10, all, never_busy(booking("seat", 1)),
               never_busy(booking("hotel", 1)));
}

TEST_CASE("rule: a person ends a call at its receiver before closing it in the entry") {
    saga_needs(switched::persons_end_keys, 9, with_persons(canceling(1, 1)), notice("mail", 1));
    saga_needs(switched::persons_end_keys, 10, with_persons(canceling(1, 1)), booking("seat", 1));
}

TEST_CASE("rule: a person ends a pivot at its receiver before closing it in the entry") {
    saga_needs(switched::persons_end_keys, 12, operated(1, 0), pivot("card", 1));
}

TEST_CASE("rule: a person closes a call only once its transaction is decided") {
    saga_needs(switched::persons_follow_decisions, 14, operated(1, 0), booking("seat", 1));
}

TEST_CASE("rule: the closing of a pivot raises the revision") {
    saga_needs(switched::closing_raises, 7, operated(1, 0), pivot("card", 1));
}

TEST_CASE("rule: the closings of two operators are compare-and-sets") {
    saga_needs(switched::revisions_compare, 12, operated(1, 2), notice("mail", 1),
               notice("letter", 1));
}

TEST_CASE("rule: the cancel by a person who closes a pivot is a compare-and-set") {
    saga_needs(switched::cancel_compares, 8, guessed(1, 1), pivot("card", 1));
}
