// SPDX-License-Identifier: BSL-1.0
// The shipped coordinator and record rule, searched exhaustively within small bounds.
#include <settle/testing/explore.hpp>

#include <transfer/transfer.hpp>

#include <doctest/doctest.h>

namespace {

using settle::testing::bounds;
using settle::testing::search;

/// Two accounts and one transfer; the money there is stays the same.
auto one_transfer() {
    auto made = std::make_unique<search<settle::type_tag<bank::transfer_type>>>(
        settle::type<bank::transfer_type>);
    made->with(bank::accounts, bank::account{"A", 100, 100})
        .with(bank::accounts, bank::account{"B", 0, 0})
        .run("t1", bank::transfer{"A", "B", 60})
        .conserves(bank::accounts, settle::field<&bank::account::balance>);
    return made;
}

bounds within(std::size_t workers, std::size_t late_writes) {
    bounds made;
    made.workers = workers;
    made.late_writes = late_writes;
    made.attempts = 1;
    made.calls_again = 0;
    return made;
}

void look(search<settle::type_tag<bank::transfer_type>>& wanted, bounds const& limits) {
    auto const seen = wanted.explore(limits);
    MESSAGE(seen);
    CHECK(seen);
    CHECK(seen.states > 100);
}

} // namespace

TEST_CASE("one worker that crashes, pauses, is asked to cancel, and one late write") {
    bounds limits = within(1, 1);
    limits.cancels = true;
    limits.expires = true;
    look(*one_transfer(), limits);
}

TEST_CASE("two workers that take over from each other at any moment") {
    look(*one_transfer(), within(2, 0));
}

TEST_CASE("two transfers that share an account which has enough for one") {
    auto both = one_transfer();
    both->run("t2", bank::transfer{"A", "B", 70});
    look(*both, within(1, 1));
}

TEST_CASE("long: two workers and one late write") {
    look(*one_transfer(), within(2, 1));
}
