// SPDX-License-Identifier: BSL-1.0
// Services shared by the refused files: a trip's airline, and receivers of lower grades.
#pragma once

#include "bank.hpp"

namespace bank {

struct stay {
    std::string hotel;
    std::int64_t nights;
};
struct trip {
    std::string traveller;
    std::string flight;
    std::int64_t people;
    std::vector<stay> stays;
};
struct seat {
    std::string flight;
    std::int64_t people;
};
struct small_seat {
    std::string flight;
    std::int32_t people;
};
struct ticket {
    std::string number;
    std::int64_t price;
    std::int64_t unlisted;
};

} // namespace bank

SETTLE_STRUCT(bank::stay, hotel, nights);
SETTLE_STRUCT(bank::trip, traveller, flight, people, stays);
SETTLE_STRUCT(bank::seat, flight, people);
SETTLE_STRUCT(bank::small_seat, flight, people);
SETTLE_STRUCT(bank::ticket, number, price);

namespace bank {

using settle::call;
using settle::query;
using settle::result_from;
using settle::together;

inline constexpr settle::service<seat, ticket, "airline", settle::barrier> airline;
inline constexpr settle::service<seat, settle::nothing, "mailer", settle::barrier> mailer;
inline constexpr settle::service<seat, ticket, "keys", settle::remembers_keys> keys;
inline constexpr settle::service<seat, ticket, "prices"> prices; // settle::plain

inline constexpr settle::prepared<seat, "seats"> seats;

inline constexpr auto flight = participant<"flight">(airline)
                                   .apply(call(param<&trip::flight>, param<&trip::people>))
                                   .compensate(call());

} // namespace bank
