// SPDX-License-Identifier: BSL-1.0
// Exhaustive searches: readers of decided transactions, beside everything that changes the records.
#include "explore_types.hpp"

using namespace explored;

namespace {

// Each sum of amounts shows which of the transfers an answer has.
auto const from_a = runs("t1", transfer{"A", "B", 1});
auto const from_b = runs("t2", transfer{"B", "A", 2});
auto const both_rich = starts(accounts, account("A", 100), account("B", 100));

bounds calm(std::size_t workers, std::size_t late_writes) {
    bounds calm = without_crashes(within(workers, late_writes));
    calm.sweeps = late_writes != 0; // they end what a late apply leaves
    return calm;
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
