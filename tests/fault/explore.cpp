// SPDX-License-Identifier: BSL-1.0
// The shipped coordinator and record rule, searched exhaustively within bounds: transfers.
#include "explore_types.hpp"

using namespace explored;

TEST_CASE("explore: a transfer, one worker that may do everything, one late write") {
    right(transfers, two_accounts, runs("t1", sixty), money, never_below, everything(1, 1));
}

TEST_CASE("explore: a transfer, two workers that take over from each other at any moment") {
    right(transfers, two_accounts, runs("t1", sixty), money, never_below, within(2, 0));
}

TEST_CASE("explore: a worker that was overtaken undoes its own marks without a sweeper") {
    bounds alone = within(2, 0);
    alone.crashes = alone.sweeps = false;
    alone.cancels = true;
    right(transfers, two_accounts, runs("t1", sixty), money, never_below, alone);
}

TEST_CASE("explore: a log that may refuse an entry as unfit") {
    bounds refusing = everything(1, 1);
    refusing.refusals = true;
    right(transfers, two_accounts, runs("t1", sixty), money, never_below, refusing);
    refusing = within(2, 0);
    refusing.refusals = true;
    right(transfers, two_accounts, runs("t1", sixty), money, never_below, refusing);
}

TEST_CASE("explore: two transfers from an account with money for one of them") {
    right(transfers, two_accounts, runs("t1", sixty), runs("t2", transfer{"A", "B", 70}), money,
          never_below, within(1, 1));
}

TEST_CASE("explore: two transfers over one hot account, in both directions") {
    right(transfers, starts(accounts, account("A", 100), account("B", 0), account("C", 0)),
          runs("t1", sixty), runs("t2", transfer{"B", "C", 50}), money, never_below, within(1, 1));
}

TEST_CASE("explore: a transfer and its reversal") {
    right(transfers, two_accounts, runs("t1", sixty), reverses("t1"), money, never_below,
          within(1, 1));
}

TEST_CASE("long: explore: a transfer and its reversal, two workers") {
    right(transfers, two_accounts, runs("t1", sixty), reverses("t1"), money, never_below,
          within(2, 0));
}

TEST_CASE("long: explore: a transfer, two workers, one late write") {
    right(transfers, two_accounts, runs("t1", sixty), money, never_below, within(2, 1));
}

TEST_CASE("long: explore: a transfer, one worker, two late writes") {
    right(transfers, two_accounts, runs("t1", sixty), money, never_below, within(1, 2));
}

TEST_CASE("long: explore: an id submitted again after its purge, two late writes") {
    bounds anew = within(1, 2);
    anew.ages = anew.resubmits = true;
    right(transfers, starts(accounts, account("A", 200), account("B", 0)), runs("t1", sixty), money,
          never_below, anew);
}

TEST_CASE("long: explore: a transfer, three workers that pause and never crash") {
    bounds pausing = within(3, 0);
    pausing.crashes = false;
    right(transfers, two_accounts, runs("t1", sixty), money, never_below, pausing);
}

TEST_CASE("long: explore: a transfer, one worker that may do everything, two late writes") {
    right(transfers, two_accounts, runs("t1", sixty), money, never_below, everything(1, 2));
}

TEST_CASE("exhaustive: explore: two transfers over one hot account, two workers") {
    right(transfers, starts(accounts, account("A", 100), account("B", 0), account("C", 0)),
          runs("t1", sixty), runs("t2", transfer{"B", "C", 50}), money, never_below, within(2, 0));
}
