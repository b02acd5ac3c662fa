// SPDX-License-Identifier: BSL-1.0
// Two operators at once, searched exhaustively, beside workers, late calls and each other.
#include "explore_types.hpp"

using namespace explored;

TEST_CASE("explore: two operators resolve a pivot, whose answer is late") {
    right_saga(saga(operated(1, 3), pivot("card", 1)));
}

TEST_CASE("explore: an operator resolves a pivot, and another one retries it") {
    right_saga(saga(operated(2, 0), pivot("card", 1)));
}

TEST_CASE("explore: two operators resolve a pivot whose result a later call sends") {
    call_model card = pivot("card", 1);
    card.results = 2;
    right_saga(saga(operated(1, 2), card, notice("mail", 1)));
}

TEST_CASE("explore: two operators resolve a pivot whose receiver closes keys") {
    auto const closes = settle::remembers_keys | settle::closes_keys;
    right_saga(saga(operated(1, 2), pivot("card", 1, closes)));
}

TEST_CASE("explore: two operators contradict each other, and the answer of a pivot") {
    right_saga(saga(guessed(1, 2), pivot("card", 1)));
    right_saga(saga(guessed(1, 1), never_busy(booking("seat", 1)), pivot("card", 2)));
}

TEST_CASE("explore: two operators resolve the calls of one transaction") {
    right_saga(saga(operated(1, 2), notice("mail", 1), notice("letter", 1)));
    right_saga(saga(operated(1, 2), never_busy(booking("seat", 1))));
}

TEST_CASE("explore: two operators cancel, reverse, and reverse again") {
    bounds limits = without_crashes(canceling(2, 0));
    limits.calls_again = 1;
    right(transfers, starts(accounts, account("A", 100), account("B", 100)), runs("t1", sixty),
          reverses("t1"), reverses("t1"), money, limits);
}
