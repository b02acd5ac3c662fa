// SPDX-License-Identifier: BSL-1.0
// Calls of services, searched exhaustively: the pivot, calls at commit, receivers of each grade.
#include "explore_types.hpp"

using namespace explored;
using settle::keeps_refusals;
using settle::remembers_keys;

namespace {

struct voyage {
    std::string payer, flight;
    std::int64_t amount = 0;
};
struct seat_request {
    std::string flight;
};
struct ticket {
    std::string number;
    std::int64_t price = 0;
};
struct charge {
    std::string payer;
    std::int64_t amount = 0;
};
struct letter {
    std::string to, ticket;
};
SETTLE_STRUCT(voyage, payer, flight, amount);
SETTLE_STRUCT(seat_request, flight);
SETTLE_STRUCT(ticket, number, price);
SETTLE_STRUCT(charge, payer, amount);
SETTLE_STRUCT(letter, to, ticket);

inline constexpr settle::service<seat_request, ticket, "airline", settle::barrier> airline;
inline constexpr settle::service<charge, settle::nothing, "cards", remembers_keys | keeps_refusals>
    cards;
inline constexpr settle::service<letter, settle::nothing, "mailer", remembers_keys> mailer;

inline constexpr auto voyage_type = settle::transaction<voyage, "voyage">(
    participant<"payer">(accounts, param<&voyage::payer>)
        .require(field<&bank::account::balance> >= param<&voyage::amount>)
        .apply(field<&bank::account::balance> -= param<&voyage::amount>)
        .compensate(settle::inverse),
    participant<"flight">(airline)
        .apply(settle::call(param<&voyage::flight>))
        .compensate(settle::call()),
    participant<"card">(cards).apply(
        settle::call(param<&voyage::payer>, settle::result_from<"flight", &ticket::price>)),
    participant<"mail">(mailer).confirm(
        settle::call(param<&voyage::payer>, settle::result_from<"flight", &ticket::number>)));

auto const keys_and_refusals = remembers_keys | keeps_refusals;

} // namespace

TEST_CASE("explore: a pivot, one late write, cancels and ages at any moment") {
    right_saga(saga(aging(canceling(1, 1)), pivot("card", 1)));
}

TEST_CASE("explore: a pivot, two workers that take over from each other") {
    right_saga(saga(canceling(2, 0), pivot("card", 1)));
}

TEST_CASE("explore: a booking before a pivot and a call at commit, one late write") {
    right_saga(saga(canceling(1, 1), booking("seat", 1), pivot("card", 2), notice("mail", 2)));
}

TEST_CASE("explore: a booking before a pivot, two workers") {
    right_saga(saga(canceling(2, 0), booking("seat", 1), pivot("card", 2)));
}

TEST_CASE("explore: two bookings that are compensated at once, two workers") {
    right_saga(saga(canceling(2, 0), booking("seat", 1), independent(booking("room", 2))));
    right_saga(saga(canceling(1, 1), booking("seat", 1), independent(booking("room", 2))));
}

TEST_CASE("explore: a booking waits for the compensation of the call that used its result alone") {
    auto const rent = using_result(booking("car", 3), 0);
    right_saga(saga(canceling(1, 0), booking("seat", 1), independent(booking("room", 2)), rent));
}

TEST_CASE(
    "long: explore: bookings of which one used another's result, one late write or takeover") {
    auto const rent = using_result(booking("car", 3), 0);
    for (auto const& within : {canceling(1, 1), canceling(2, 0)}) {
        right_saga(saga(within, booking("seat", 1), independent(booking("room", 2)), rent));
    }
}

TEST_CASE("explore: two bookings that are compensated in order, one late write") {
    right_saga(saga(canceling(1, 1), booking("seat", 1), in_order(booking("room", 2))));
}

TEST_CASE("explore: receivers that remember keys and refusals") {
    right_saga(saga(aging(canceling(1, 1)), graded(booking("seat", 1), keys_and_refusals),
                    pivot("card", 2, keys_and_refusals)));
    right_saga(saga(canceling(2, 0), graded(booking("seat", 1), keys_and_refusals)));
}

TEST_CASE("explore: a receiver that remembers nothing takes a repeated call twice") {
    auto const sure = [](call_model call) {
        call.refuses = call.busy = false;
        return graded(std::move(call), settle::plain);
    };
    wrong_saga(saga(within(1, 1), sure(booking("seat", 1))), "took effect twice");
    wrong_saga(saga(canceling(1, 0), graded(booking("seat", 1), settle::plain)),
               "undone without an effect");
    wrong_saga(saga(canceling(1, 1), notice("mail", 1, settle::plain)), "took effect twice");
    wrong_saga(saga(canceling(1, 1), pivot("card", 1, settle::plain)), "took effect twice");
}

TEST_CASE("explore: a receiver that forgets its refusals takes a late copy of a refused call") {
    wrong_saga(saga(canceling(1, 1), graded(booking("seat", 1), remembers_keys)), "has an effect");
    wrong_saga(saga(canceling(1, 1), pivot("card", 1, remembers_keys)), "has an effect");
}

TEST_CASE("explore: a call at commit needs a receiver that remembers keys") {
    right_saga(saga(canceling(1, 1), notice("mail", 1, remembers_keys)));
}

TEST_CASE("explore: a saga is searched from its definition") {
    voyage const voyage{"A", "LH 1", 60};
    right_saga(explore(settle::type<voyage_type>, payer, runs("t1", voyage), never_below,
                       canceling(1, 1)));
    auto const apart =
        models("flight", [](call_model& flight) { flight.writes = row_write::after_effect; });
    wrong_saga(explore(settle::type<voyage_type>, payer, runs("t1", voyage), never_below,
                       canceling(1, 1), apart),
               "t1 flight: this call took effect twice", 6);
}
