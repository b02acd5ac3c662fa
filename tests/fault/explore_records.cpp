// SPDX-License-Identifier: BSL-1.0
// The same search of transactions that fail, create, erase and assign, and of a reversal.
#include "explore_types.hpp"

#include <payment/payment.hpp>

using namespace explored;

namespace {

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

TEST_CASE("exhaustive: explore: a payment of two lines, one late write") {
    right(settle::type<shop::payment_type>, shop_customers, shop_order, shop_items, shop_till,
          runs("p1", paid({{"pen", 1, 10}, {"ink", 2, 25}})), stock_stays, within(1, 1));
}
