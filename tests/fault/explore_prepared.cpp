// SPDX-License-Identifier: BSL-1.0
// Prepared parts, searched exhaustively: late prepares and ends, takeover, cancel, sweep, purge,
// beside records and calls.
#include "explore_types.hpp"

#include <tuple>

using namespace explored;

namespace {

struct entry_request {
    std::string account;
    std::int64_t amount = 0;
};
struct journey {
    std::string payer, flight;
    std::int64_t amount = 0;
};
struct flight_request {
    std::string flight;
};
SETTLE_STRUCT(entry_request, account, amount);
SETTLE_STRUCT(journey, payer, flight, amount);
SETTLE_STRUCT(flight_request, flight);

inline constexpr settle::prepared<entry_request, "ledger"> ledger;
inline constexpr settle::service<flight_request, settle::nothing, "airline", settle::barrier>
    carrier;

inline constexpr auto payment_type = settle::transaction<purchase, "payment">(
    participant<"payer">(accounts, param<&purchase::payer>)
        .require(field<&bank::account::balance> >= param<&purchase::amount>)
        .apply(field<&bank::account::balance> -= param<&purchase::amount>)
        .compensate(settle::inverse),
    participant<"payee">(ledger).apply(
        settle::call(param<&purchase::payer>, param<&purchase::amount>)));

/// A record and a prepared part in stage 0, and a call.
inline constexpr auto journey_type = settle::transaction<journey, "journey">(
    participant<"payer">(accounts, param<&journey::payer>)
        .require(field<&bank::account::balance> >= param<&journey::amount>)
        .apply(field<&bank::account::balance> -= param<&journey::amount>)
        .compensate(settle::inverse),
    participant<"payee">(ledger).apply(
        settle::call(param<&journey::payer>, param<&journey::amount>)),
    participant<"flight">(carrier)
        .apply(settle::call(param<&journey::flight>))
        .compensate(settle::call()));

prepared_model busy(std::string name) { return {std::move(name), true, true}; }

auto const seat_call = calls("t1", never_busy(booking("seat", 1)));
/// A call that may be refused, and a pivot after it. No definition may have a pivot beside a
/// prepared part, whose work could be refused after a takeover; in these searches it never is.
auto const seat_and_card = calls("t1", never_busy(booking("seat", 1)), pivot("card", 2));

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

TEST_CASE("explore: a prepared part and a call, workers that pause and take over") {
    right(purchases, payer, buys, books_too, seat_call, never_below, without_crashes(within(2, 0)));
}

TEST_CASE("explore: a prepared part and a call that may be refused, from a definition") {
    right(settle::type<journey_type>, payer, runs("t1", journey{"A", "LH 1", 60}), never_below,
          canceling(1, 1));
}

TEST_CASE("explore: a prepared part, a call and a pivot, expiry and purge") {
    right(purchases, payer, buys, books_too, seat_and_card, never_below, aging(canceling(1, 0)));
}

TEST_CASE("explore: a prepared part beside a call at commit") {
    right(purchases, payer, buys, books_too, calls("t1", notice("mail", 1)), never_below,
          canceling(1, 1));
}

TEST_CASE("long: explore: a prepared part, a call and a pivot, a late operation and a purge") {
    right(purchases, payer, buys, books_too, seat_and_card, never_below, aging(canceling(1, 1)));
}

TEST_CASE("long: explore: a prepared part, a call and a pivot, two workers") {
    right(purchases, payer, buys, books_too, seat_and_card, never_below, within(2, 0));
}

TEST_CASE("long: explore: a prepared part and a call, two workers, cancels at any moment") {
    right(purchases, payer, buys, books_too, seat_call, never_below, canceling(2, 0));
}

TEST_CASE("explore: two transactions, each with a prepared part") {
    right(purchases, starts(accounts, account("A", 100)), buys, runs("t2", purchase{"A", 60}),
          books_too, prepares("t2", prepared_model{"ledger"}), never_below, within(1, 0));
}

TEST_CASE("long: explore: two transactions, each with a prepared part, a late operation") {
    right(purchases, starts(accounts, account("A", 100)), buys, runs("t2", purchase{"A", 60}),
          books_too, prepares("t2", prepared_model{"ledger"}), never_below, within(1, 1));
}

TEST_CASE("explore: a person rolls back what is prepared, and it is never reported as done") {
    right(purchases, payer, buys, books_too, never_below, by_hand(canceling(1, 1)));
}

TEST_CASE("explore: prepared parts are searched from their definition") {
    right(settle::type<payment_type>, payer, runs("t1", purchase{"A", 60}), never_below,
          canceling(1, 1));
    CHECK_THROWS_AS(std::ignore =
                        explore(purchases, payer, buys, prepares("t9", prepared_model{"ledger"})),
                    std::invalid_argument);
}
