// SPDX-License-Identifier: BSL-1.0
// Exhaustive searches: commits that execute the parts in the log's own store.
#include "explore_types.hpp"

using namespace explored;

namespace {

auto const sixty_first = runs("t1", sixty);
auto const seventy_next = runs("t2", transfer{"A", "B", 70});

} // namespace

TEST_CASE("explore: a joined commit, one worker that may do everything, one late write") {
    bounds limits = joined(within(1, 1));
    limits.cancels = true;
    limits.ages = true;
    limits.calls_again = 1;
    limits.submits = true;
    right(transfers, two_accounts, sixty_first, money, never_below, limits);
}

TEST_CASE("explore: a joined commit, two workers on one transfer") {
    bounds both = joined(within(2, 0));
    both.cancels = true;
    right(transfers, two_accounts, sixty_first, money, never_below, both);
}

TEST_CASE("explore: a joined commit, two late writes") {
    right(transfers, two_accounts, sixty_first, money, never_below, joined(within(1, 2)));
}

TEST_CASE("explore: the credit is joined to the commit, or both parts") {
    right(transfers, two_accounts, sixty_first, money, never_below, joined(within(1, 1), 2));
    right(transfers, two_accounts, sixty_first, money, never_below, joined(within(1, 1), 3));
}

TEST_CASE("explore: two transfers, each with a joined commit or without") {
    right(transfers, two_accounts, sixty_first, seventy_next, money, never_below,
          joined(within(1, 1)));
}

TEST_CASE("explore: a joined commit is requeued at any time") {
    right(transfers, two_accounts, sixty_first, money, never_below,
          joined(in_a_batch(within(1, 1))));
}

TEST_CASE("long: explore: exclusive effects in joined commits") {
    right(settle::type<paint_type>, starts(flags, flag{"A", "white"}, flag{"B", "white"}),
          runs("t1", paint{"A", "B", "red"}), runs("t2", paint{"B", "A", "blue"}),
          joined(within(1, 1)));
}

TEST_CASE("long: explore: two transfers with joined commits are requeued at any time") {
    right(transfers, two_accounts, sixty_first, seventy_next, money, never_below,
          joined(in_a_batch(within(1, 1))));
}

TEST_CASE("long: explore: a joined commit, two workers and one late write") {
    right(transfers, two_accounts, sixty_first, money, never_below, joined(within(2, 1)));
}
