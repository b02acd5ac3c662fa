// SPDX-License-Identifier: BSL-1.0
// Prepared parts, searched exhaustively: late prepares and ends, takeover, cancel, sweep, purge,
// beside records and calls.
#include "explore_types.hpp"

#include <tuple>

using namespace explored;

namespace {

struct booking_request {
    std::string account;
    std::int64_t amount = 0;
};
SETTLE_STRUCT(booking_request, account, amount);

inline constexpr settle::prepared<booking_request, "ledger"> ledger;

inline constexpr auto payment_type = settle::transaction<purchase, "payment">(
    participant<"payer">(accounts, param<&purchase::payer>)
        .require(field<&bank::account::balance> >= param<&purchase::amount>)
        .apply(field<&bank::account::balance> -= param<&purchase::amount>)
        .compensate(settle::inverse),
    participant<"payee">(ledger).apply(
        settle::call(param<&purchase::payer>, param<&purchase::amount>)));

prepared_model busy(std::string name) { return {std::move(name), true, true}; }

} // namespace

TEST_CASE("explore: a prepared part, late prepares and ends, cancels at any moment") {
    right(purchases, payer, buys, books_too, never_below, canceling(1, 1));
}

TEST_CASE("explore: a prepared part, two workers that take over from each other") {
    right(purchases, payer, buys, books_too, never_below, within(2, 0));
}

TEST_CASE("explore: a prepared part, two late prepares or ends") {
    right(purchases, payer, buys, books_too, never_below, within(1, 2));
}

TEST_CASE("explore: two prepared parts, a lock that is not free") {
    right(purchases, payer, buys, prepares("t1", busy("ledger"), prepared_model{"stock"}),
          never_below, canceling(1, 1));
}

TEST_CASE("explore: a prepared part, expiry, purge and resubmission") {
    right(purchases, payer, buys, books_too, never_below, aging(canceling(1, 1)));
    auto anew = aging(canceling(1, 0));
    anew.resubmits = true;
    right(purchases, payer, buys, books_too, never_below, anew);
}

TEST_CASE("explore: a prepared part beside a call of a service") {
    right(purchases, payer, buys, books_too, calls("t1", booking("seat", 1)), never_below,
          canceling(1, 1));
}

TEST_CASE("explore: two transactions, each with a prepared part") {
    right(purchases, starts(accounts, account("A", 100)), buys, runs("t2", purchase{"A", 60}),
          books_too, prepares("t2", prepared_model{"ledger"}), never_below, within(1, 1));
}

TEST_CASE("explore: a person rolls back what is prepared, and it is never reported as done") {
    right(purchases, payer, buys, books_too, never_below, by_hand(canceling(1, 1)));
}

TEST_CASE("explore: prepared parts are searched from their definition") {
    right(settle::type<payment_type>, payer, runs("t1", purchase{"A", 60}), never_below,
          canceling(1, 1));
    CHECK_THROWS_AS(std::ignore = explore(purchases, payer, buys,
                                          prepares("t9", prepared_model{"ledger"})),
                    std::invalid_argument);
}
