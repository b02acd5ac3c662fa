// SPDX-License-Identifier: BSL-1.0
// Exhaustive searches: one phase beside two phases, and requeued transactions.
#include "explore_types.hpp"

#include <payment/payment.hpp>

using namespace explored;

namespace {

auto const seventy = runs("t2", transfer{"A", "B", 70});

} // namespace

TEST_CASE("explore: one phase or two, one worker that may do everything, one late write") {
    bounds limits = in_one_phase(within(1, 1));
    limits.cancels = true;
    limits.ages = true;
    limits.calls_again = 1;
    limits.submits = true;
    right(transfers, two_accounts, runs("t1", sixty), money, never_below, limits);
}

TEST_CASE("explore: one phase or two, two workers on one transfer") {
    bounds both = in_one_phase(within(2, 0));
    both.cancels = true;
    right(transfers, two_accounts, runs("t1", sixty), money, never_below, both);
}

TEST_CASE("explore: two transfers, each in one phase or two") {
    right(transfers, two_accounts, runs("t1", sixty), seventy, money, never_below,
          in_one_phase(within(1, 1)));
}

TEST_CASE("explore: a payment in one phase or two") {
    right(settle::type<shop::payment_type>, starts(shop::customers, shop::customer{"c", 100, 100}),
          starts(shop::orders, shop::order{"i", "c", 60, "unpaid"}),
          starts(shop::items, shop::item{"pen", 5}), starts(shop::tills, shop::till{"shop", 0}),
          runs("t1", shop::payment{"i", "c", 60, {{"pen", 1, 60}}}), in_one_phase(within(1, 1)));
}

TEST_CASE("explore: exclusive effects in one phase beside two") {
    right(settle::type<paint_type>, starts(flags, flag{"A", "white"}, flag{"B", "white"}),
          runs("t1", paint{"A", "B", "red"}), runs("t2", paint{"B", "A", "blue"}),
          in_one_phase(within(1, 1)));
}

TEST_CASE("explore: a record that one phase creates and another erases") {
    right(settle::type<rename_type>, starts(flags, flag{"A", "red"}),
          runs("t1", renaming{"A", "B", "red"}), runs("t2", renaming{"B", "A", "red"}),
          in_one_phase(within(1, 1)));
}

TEST_CASE("explore: a transaction that has applied is requeued at any time") {
    right(transfers, two_accounts, runs("t1", sixty), seventy, money, never_below,
          in_a_batch(within(1, 1)));
}

TEST_CASE("long: explore: a requeued transaction and two late writes") {
    right(transfers, two_accounts, runs("t1", sixty), money, never_below, in_a_batch(within(1, 2)));
}

TEST_CASE("long: explore: another worker takes over a requeued transaction") {
    right(transfers, two_accounts, runs("t1", sixty), money, never_below, in_a_batch(within(2, 1)));
}

TEST_CASE("long: explore: one phase or two, two workers and one late write") {
    right(transfers, two_accounts, runs("t1", sixty), money, never_below,
          in_one_phase(within(2, 1)));
}

// Transactions that share a native commit lose its answer together.
TEST_CASE("exhaustive: explore: two transfers, each in one phase or two, two late writes") {
    right(transfers, two_accounts, runs("t1", sixty), seventy, money, never_below,
          in_one_phase(within(1, 2)));
}
