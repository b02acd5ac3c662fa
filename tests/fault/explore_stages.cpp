// SPDX-License-Identifier: BSL-1.0
// Transactions of several stages: records first, then calls of receivers, searched exhaustively.
#include "explore_types.hpp"

using namespace explored;

TEST_CASE("explore: one call, one worker that may do everything, one late write") {
    bounds limits = canceling(1, 1);
    limits.ages = limits.refusals = limits.submits = true;
    limits.calls_again = 1;
    right(purchases, payer, buys, calls("t1", booking("seat", 1)), never_below, limits);
}

TEST_CASE("explore: one call, two workers that take over from each other at any moment") {
    right(purchases, payer, buys, calls("t1", booking("seat", 1)), never_below, canceling(2, 0));
}

TEST_CASE("explore: a query and a call that needs its result, one late write") {
    right(purchases, payer, buys, price_then_seat, never_below, canceling(1, 1));
}

TEST_CASE("explore: a query and a call that needs its result, two workers") {
    right(purchases, payer, buys, price_then_seat, never_below, canceling(2, 0));
}

TEST_CASE("explore: two calls in one stage, and a later call that needs both results") {
    call_model const seat{"seat", 1, call_moments::undoable, settle::barrier, 2, true, false};
    call_model const meal{"meal", 1, call_moments::undoable, settle::barrier, 2, false, true};
    right(purchases, payer, buys, calls("t1", seat, meal, booking("bill", 2)), never_below,
          canceling(1, 1));
}

TEST_CASE("explore: a stage without a part is skipped") {
    right(purchases, payer, buys, calls("t1", booking("seat", 2)), never_below, canceling(2, 0));
}

TEST_CASE("long: explore: two paintings in opposite order, one with a later call") {
    right(settle::type<paint_type>, starts(flags, flag{"A", "white"}, flag{"B", "white"}),
          runs("t1", paint{"A", "B", "red"}), runs("t2", paint{"B", "A", "blue"}),
          calls("t1", booking("seat", 1)), within(1, 1));
}

TEST_CASE("explore: a batch requeues a transaction before its first call only") {
    right(purchases, starts(accounts, account("A", 200)), buys, runs("t2", purchase{"A", 70}),
          calls("t1", booking("seat", 1)), never_below, in_a_batch(within(1, 1)));
}

TEST_CASE("explore: calls beside a transaction of one stage that runs in one phase") {
    right(purchases, payer, buys, runs("t2", purchase{"A", 70}), calls("t1", booking("seat", 1)),
          never_below, in_one_phase(within(1, 1)));
}

TEST_CASE("long: explore: a query and a call that needs its result, two late writes") {
    right(purchases, payer, buys, price_then_seat, never_below, canceling(1, 2));
}

TEST_CASE("exhaustive: explore: one call, two workers and one late write") {
    right(purchases, payer, buys, calls("t1", booking("seat", 1)), never_below, canceling(2, 1));
}

TEST_CASE("exhaustive: explore: a query and a call, two workers and one late write") {
    right(purchases, payer, buys, price_then_seat, never_below, within(2, 1));
}
