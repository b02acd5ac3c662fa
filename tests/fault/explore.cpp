// SPDX-License-Identifier: BSL-1.0
// The shipped coordinator and record rule, searched exhaustively within bounds.
#include "explore_types.hpp"

#include <payment/payment.hpp>

using namespace explored;

namespace {

/// Everything that a search can do, with so many workers and late writes.
bounds everything(std::size_t workers, std::size_t late_writes) {
    bounds made = within(workers, late_writes);
    made.cancels = true;
    made.ages = true;
    made.calls_again = 1;
    return made;
}

auto const shop_customers = starts(shop::customers, shop::customer{"c", 100, 100});
auto const shop_order = starts(shop::orders, shop::order{"i", "c", 60, "unpaid"});
auto const shop_items = starts(shop::items, shop::item{"pen", 5}, shop::item{"ink", 5});
auto const shop_till = starts(shop::tills, shop::till{"shop", 0});
auto const stock_stays = stays(shop::items, field<&shop::item::in_stock> >= lit<0>);

// A sum over one collection requires no members of the records of another collection.
static_assert(decltype(conserves(shop::tills, field<&shop::till::takings>))::late_credits<
              settle::detail::type_list<settle::type_tag<shop::payment_type>>>());

shop::payment paid(std::vector<shop::order_line> lines) { return {"i", "c", 60, std::move(lines)}; }

} // namespace

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

TEST_CASE("explore: a guard that fails on the last participant") {
    right(settle::type<loan_type>, two_accounts, runs("t1", loan{"B", "A", 60}), money, never_below,
          within(2, 0));
    right(settle::type<loan_type>, two_accounts, runs("t1", loan{"B", "A", 60}), money, never_below,
          everything(1, 1));
}

TEST_CASE("explore: a payment of two lines, over four collections") {
    right(settle::type<shop::payment_type>, shop_customers, shop_order, shop_items, shop_till,
          runs("p1", paid({{"pen", 1, 10}, {"ink", 2, 25}})), stock_stays, within(1, 0));
}

TEST_CASE("explore: a payment that names one stock code twice, with enough or too little stock") {
    right(settle::type<shop::payment_type>, shop_customers, shop_order, shop_items, shop_till,
          runs("p1", paid({{"pen", 2, 10}, {"pen", 2, 20}})), stock_stays, within(1, 0));
    right(settle::type<shop::payment_type>, shop_customers, shop_order, shop_items, shop_till,
          runs("p1", paid({{"pen", 3, 10}, {"pen", 3, 10}})), stock_stays, within(1, 0));
}

TEST_CASE("explore: an order with two payments is paid once") {
    right(settle::type<shop::payment_type>, shop_customers, shop_order, shop_till,
          runs("p1", paid({})), runs("p2", paid({})), within(1, 0));
}

TEST_CASE("explore: one record is created and another erased") {
    right(settle::type<rename_type>, starts(flags, flag{"A", "red"}),
          runs("t1", renaming{"A", "B", "red"}), everything(1, 1));
    right(settle::type<rename_type>, starts(flags, flag{"A", "red"}),
          runs("t1", renaming{"A", "B", "red"}), within(2, 0));
}

TEST_CASE("explore: two renames to one name") {
    right(settle::type<rename_type>, starts(flags, flag{"A", "red"}, flag{"C", "red"}),
          runs("t1", renaming{"A", "B", "red"}), runs("t2", renaming{"C", "B", "red"}),
          within(1, 1));
}

TEST_CASE("explore: two paintings in opposite order back off from each other") {
    right(settle::type<paint_type>, starts(flags, flag{"A", "white"}, flag{"B", "white"}),
          runs("t1", paint{"A", "B", "red"}), runs("t2", paint{"B", "A", "blue"}), within(1, 1));
}

// A search requests each part separately, so two stores are as independent as two records.
TEST_CASE("explore: two transactions over an account in one store and a flag in another") {
    right(settle::type<fee_type>, starts(accounts, account("A", 100)),
          starts(flags, flag{"F", "white"}), runs("t1", fee{"A", "F", "red", 60}),
          runs("t2", fee{"A", "F", "blue", 30}), never_below, within(1, 1));
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

TEST_CASE("long: explore: a payment of two lines, one worker that may do everything") {
    right(settle::type<shop::payment_type>, shop_customers, shop_order, shop_items, shop_till,
          runs("p1", paid({{"pen", 2, 10}, {"pen", 2, 20}})), stock_stays, everything(1, 0));
}

TEST_CASE("long: explore: a payment of two lines that fails, one late write") {
    right(settle::type<shop::payment_type>, shop_customers, shop_order, shop_items, shop_till,
          runs("p1", paid({{"pen", 3, 10}, {"pen", 3, 10}})), stock_stays, within(1, 1));
}

TEST_CASE("long: explore: an order with two payments is paid once, one late write") {
    right(settle::type<shop::payment_type>, shop_customers, shop_order, shop_till,
          runs("p1", paid({})), runs("p2", paid({})), within(1, 1));
}

TEST_CASE("long: explore: a transfer, three workers that pause and never crash") {
    bounds pausing = within(3, 0);
    pausing.crashes = false;
    right(transfers, two_accounts, runs("t1", sixty), money, never_below, pausing);
}

TEST_CASE("long: explore: a transfer, one worker that may do everything, two late writes") {
    right(transfers, two_accounts, runs("t1", sixty), money, never_below, everything(1, 2));
}

TEST_CASE("exhaustive: explore: a payment of two lines, one late write") {
    right(settle::type<shop::payment_type>, shop_customers, shop_order, shop_items, shop_till,
          runs("p1", paid({{"pen", 1, 10}, {"ink", 2, 25}})), stock_stays, within(1, 1));
}

TEST_CASE("exhaustive: explore: two transfers over one hot account, two workers") {
    right(transfers, starts(accounts, account("A", 100), account("B", 0), account("C", 0)),
          runs("t1", sixty), runs("t2", transfer{"B", "C", 50}), money, never_below, within(2, 0));
}
