// SPDX-License-Identifier: BSL-1.0
// Exhaustive searches: readers of decided transactions, beside everything that changes the records;
// and two readers, whose answers must be in one order.
#include "explore_types.hpp"

using namespace explored;

namespace {

struct bonus_purchase {
    BOOST_HANA_DEFINE_STRUCT(bonus_purchase, (std::string, payer), (std::int64_t, amount),
                             (std::int64_t, bonus));
};

/// Two parts on one record: one changes it at apply, and the other at confirm.
inline constexpr auto bonus_type = settle::transaction<bonus_purchase, "bonus">(
    participant<"payer">(accounts, param<&bonus_purchase::payer>)
        .require(field<&bank::account::balance> >= param<&bonus_purchase::amount>)
        .apply(field<&bank::account::balance> -= param<&bonus_purchase::amount>)
        .compensate(settle::inverse),
    participant<"bonus">(accounts, param<&bonus_purchase::payer>)
        .confirm(field<&bank::account::balance> += param<&bonus_purchase::bonus>));
inline constexpr auto bonuses = settle::type<bonus_type>;

// Each sum of amounts shows which of the transfers an answer has.
auto const from_a = runs("t1", transfer{"A", "B", 1});
auto const from_b = runs("t2", transfer{"B", "A", 2});
auto const both_rich = starts(accounts, account("A", 100), account("B", 100));

auto const near_reader = reads_near(accounts, "A");
auto const far_reader = reads_far(accounts, "B");
auto const reader_in_three_looks = reads_together(accounts, "A", "B");
auto const holding_reader = reads_under_hold(accounts, "A", "B");

bounds calm(std::size_t workers, std::size_t late_writes) {
    bounds calm = without_crashes(within(workers, late_writes));
    calm.sweeps = late_writes != 0; // they end what a late apply leaves
    return calm;
}

bounds canceled(bounds bounds) {
    bounds.cancels = true;
    return bounds;
}

/// The same search with a reader of each kind.
template <typename... Clauses>
void right_with_each_reader(Clauses const&... clauses) {
    right(clauses..., near_reader);
    right(clauses..., far_reader);
    right(clauses..., reader_in_three_looks);
    right(clauses..., holding_reader);
}

} // namespace

TEST_CASE("explore: a read beside one transfer, with cancels, purges and a late write") {
    bounds all = aging(canceling(1, 1));
    right(transfers, two_accounts, from_a, reads_far(accounts, "B"), all);
    right(transfers, two_accounts, from_a, reads_near(accounts, "B"), all);
}

TEST_CASE("explore: a read in three looks, with cancels and purges") {
    right(transfers, two_accounts, from_a, reads_together(accounts, "A", "B"),
          aging(canceling(1, 0)));
    right(transfers, two_accounts, from_a, reads_together(accounts, "B", "A"),
          aging(canceling(1, 0)));
}

TEST_CASE("long: explore: a read in three looks, with cancels, purges and a late write") {
    right(transfers, two_accounts, from_a, reads_together(accounts, "A", "B"),
          aging(canceling(1, 1)));
}

TEST_CASE(
    "long: explore: a read in three looks beside late entries, which a store's crash follows") {
    right(transfers, two_accounts, from_a, reads_together(accounts, "A", "B"),
          answered_at_commit(late(canceling(1, 1))));
}

TEST_CASE("long: explore: a read in three looks beside two transfers") {
    right(transfers, both_rich, from_a, from_b, reads_together(accounts, "A", "B"), calm(2, 0));
}

TEST_CASE("explore: a read under a hold, with cancels and purges") {
    right(transfers, two_accounts, from_a, reads_under_hold(accounts, "A", "B"),
          aging(canceling(1, 0)));
}

TEST_CASE("explore: a read under a hold, one late write") {
    right(transfers, two_accounts, from_a, reads_under_hold(accounts, "A", "B"), canceling(1, 1));
    right(transfers, two_accounts, from_a, reads_under_hold(accounts, "B", "A"), canceling(1, 1));
}

TEST_CASE("long: explore: a read under a hold beside late entries, which a store's crash follows") {
    right(transfers, two_accounts, from_a, reads_under_hold(accounts, "A", "B"),
          answered_at_commit(late(canceling(1, 1))));
}

TEST_CASE("long: explore: a read under a hold beside two transfers") {
    right(transfers, both_rich, from_a, from_b, reads_under_hold(accounts, "A", "B"), calm(2, 0));
}

TEST_CASE("explore: a read beside late entries, which a store's crash and a purge follow") {
    bounds all = answered_at_commit(aging(late(canceling(1, 1))));
    right(transfers, two_accounts, from_a, reads_far(accounts, "B"), all);
}

TEST_CASE("explore: a read near the log beside joined commits") {
    right(transfers, both_rich, from_a, from_b, reads_near(accounts, "A"), joined(calm(2, 0)));
}

TEST_CASE("explore: a read beside two transfers, one late write") {
    right(transfers, both_rich, from_a, from_b, reads_far(accounts, "B"), calm(1, 1));
}

TEST_CASE("long: explore: a read of two records of one store beside two transfers") {
    right(transfers, both_rich, from_a, from_b, reads_far(accounts, "A", "B"), calm(2, 0));
}

// A read of all records looks at each key that has a record or a mark.
TEST_CASE("explore: a read of all records beside effects that create and erase") {
    auto const all_flags = [](auto const& reader) {
        right(settle::type<rename_type>, starts(flags, flag{"A", "red"}),
              runs("t1", renaming{"A", "B", "red"}), reader, canceling(1, 1));
    };
    all_flags(reads_near(flags, "A", "B"));
    all_flags(reads_under_hold(flags, "A", "B"));
}

TEST_CASE("long: explore: a read beside exclusive effects, which create and erase") {
    right(settle::type<rename_type>, starts(flags, flag{"A", "red"}),
          runs("t1", renaming{"A", "B", "red"}), runs("t2", renaming{"B", "A", "red"}),
          reads_far(flags, "A", "B"), calm(2, 0));
}

TEST_CASE("explore: reads beside a call and a pivot, with cancels") {
    right_with_each_reader(transfers, two_accounts, from_a,
                           calls("t1", never_busy(booking("seat", 1)), pivot("card", 2)),
                           canceling(1, 0));
}

TEST_CASE("long: explore: reads beside a pivot, with cancels and a late write") {
    auto const card = calls("t1", pivot("card", 1));
    right(transfers, two_accounts, from_a, card, near_reader, canceling(1, 1));
    right(transfers, two_accounts, from_a, card, far_reader, canceling(1, 1));
    right(transfers, two_accounts, from_a, card, holding_reader, canceling(1, 1));
}

TEST_CASE("explore: reads beside a prepared part, with cancels") {
    right_with_each_reader(transfers, two_accounts, from_a, books_too, canceling(1, 0));
}

TEST_CASE("explore: reads beside a reversal, with cancels") {
    right_with_each_reader(transfers, two_accounts, from_a, reverses("t1"), canceling(1, 0));
}

TEST_CASE("long: explore: a read near the log, with cancels and a late write beside these") {
    right(transfers, two_accounts, from_a, books_too, near_reader, canceling(1, 1));
    right(transfers, two_accounts, from_a, reverses("t1"), near_reader, canceling(1, 1));
}

TEST_CASE("explore: a read beside two parts on its record, with cancels, purges and a late write") {
    auto const buys_with_bonus = runs("t1", bonus_purchase{"A", 2, 1});
    right(bonuses, payer, buys_with_bonus, reads_near(accounts, "A"), aging(canceling(1, 1)));
    right(bonuses, payer, buys_with_bonus, reads_far(accounts, "A"), aging(canceling(1, 0)));
    right(bonuses, payer, buys_with_bonus, reads_far(accounts, "A"), canceled(calm(1, 1)));
}

TEST_CASE("explore: reads beside two parts on one record and a transfer") {
    auto const beside = [](bounds const& all, auto const& reader) {
        right(bonuses, transfers, both_rich, runs("t1", bonus_purchase{"B", 2, 1}),
              runs("t2", transfer{"A", "B", 4}), reader, all);
    };
    beside(within(1, 0), reads_near(accounts, "B"));
    beside(within(1, 0), holding_reader);
    beside(calm(1, 1), far_reader);
    beside(calm(1, 1), reader_in_three_looks);
}

TEST_CASE("explore: reads beside two transfers, with a late write and cancels") {
    right_with_each_reader(transfers, both_rich, from_a, from_b, canceled(calm(1, 1)));
}

TEST_CASE("explore: reads beside two transfers whose workers crash") {
    right(transfers, both_rich, from_a, from_b, near_reader, canceling(1, 0));
    right(transfers, both_rich, from_a, from_b, holding_reader, within(1, 0));
}

namespace {

void in_one_order(auto const& first, auto const& second) {
    right(purchases, payer, runs("t1", purchase{"A", 1}), runs("t2", purchase{"A", 2}), first,
          second, comparing(calm(2, 0)));
}

} // namespace

TEST_CASE("explore: two readers, whose answers are in one order") {
    in_one_order(reads_near(accounts, "A"), reads_far(accounts, "A"));
}

TEST_CASE("long: explore: two readers elsewhere, whose answers are in one order") {
    in_one_order(reads_far(accounts, "A"), reads_far(accounts, "A"));
    in_one_order(reads_far(accounts, "A"), reads_under_hold(accounts, "A"));
    right(transfers, both_rich, from_a, from_b, near_reader, far_reader, comparing(calm(2, 0)));
}
