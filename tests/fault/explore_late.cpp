// SPDX-License-Identifier: BSL-1.0
// Exhaustive searches: calls that apply parts before their entry is in the log.
#include "explore_types.hpp"

using namespace explored;

namespace {

auto const sixty_first = runs("t1", sixty);
auto const seventy_next = runs("t2", transfer{"A", "B", 70});

} // namespace

TEST_CASE("explore: a late entry, one worker that may do everything, one late write") {
    bounds limits = late(within(1, 1));
    limits.cancels = true;
    limits.ages = true;
    limits.calls_again = 1;
    right(transfers, two_accounts, sixty_first, money, never_below, limits);
}

TEST_CASE("explore: a late entry, two workers on one transfer") {
    bounds both = late(within(2, 0));
    both.cancels = true;
    both.calls_again = 1;
    right(transfers, two_accounts, sixty_first, money, never_below, both);
}

TEST_CASE("explore: a late entry, two late writes") {
    right(transfers, two_accounts, sixty_first, money, never_below, late(within(1, 2)));
}

TEST_CASE("explore: a late entry, the credit is in the log's own store, or no part is") {
    right(transfers, two_accounts, sixty_first, money, never_below, late(within(1, 1), 2));
    right(transfers, two_accounts, sixty_first, money, never_below, late(within(1, 1), 0));
}

TEST_CASE("explore: two transfers, each with a late entry or without") {
    right(transfers, two_accounts, sixty_first, seventy_next, money, never_below,
          late(within(1, 1)));
}

TEST_CASE("explore: a call without an entry is requeued at any time") {
    right(transfers, two_accounts, sixty_first, money, never_below, late(in_a_batch(within(1, 1))));
}

TEST_CASE("explore: answered at the commit, a store stops twice, one late write") {
    right(transfers, two_accounts, sixty_first, money, never_below,
          answered_at_commit(late(within(1, 1)), 2));
}

TEST_CASE("explore: answered at the commit, a store stops, two workers") {
    right(transfers, two_accounts, sixty_first, money, never_below,
          answered_at_commit(late(within(2, 0))));
}

TEST_CASE("explore: answered at the commit, a store stops, a purge and one late write") {
    bounds all = answered_at_commit(aging(late(within(1, 1))));
    all.cancels = true;
    right(transfers, two_accounts, sixty_first, money, never_below, all);
}

TEST_CASE("explore: answered at the commit, all parts are in the store that stops") {
    right(transfers, two_accounts, sixty_first, money, never_below,
          answered_at_commit(late(within(1, 1), 0)));
}

TEST_CASE("long: explore: answered at the commit, a store stops, two workers and one late write") {
    bounds both = answered_at_commit(late(within(2, 1)));
    both.crashes = false;
    right(transfers, two_accounts, sixty_first, money, never_below, both);
}

TEST_CASE("long: explore: exclusive effects of late entries") {
    right(settle::type<paint_type>, starts(flags, flag{"A", "white"}, flag{"B", "white"}),
          runs("t1", paint{"A", "B", "red"}), runs("t2", paint{"B", "A", "blue"}),
          late(within(1, 1)));
}

TEST_CASE("long: explore: a late entry, two workers and one late write") {
    bounds both = late(within(2, 1));
    both.crashes = false;
    both.calls_again = 1;
    right(transfers, two_accounts, sixty_first, money, never_below, both);
}
