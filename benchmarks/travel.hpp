// SPDX-License-Identifier: BSL-1.0
// A trip of three calls of services: the calls, the services, and the work of a case.
#pragma once

#include "bench.hpp"
#include "workload.hpp"

#include <settle/settle.hpp>

namespace bench {

struct trip {
    std::string traveller;
    std::string flight;
    std::int64_t people;
};

struct seat_request {
    std::string flight;
    std::int64_t people;
};

struct ticket {
    std::int64_t number;
    std::int64_t price;
};

struct room_request {
    std::string traveller;
    std::int64_t ticket;
};

struct room {
    std::int64_t number;
};

struct charge {
    std::string traveller;
    std::int64_t amount;
};

} // namespace bench

SETTLE_STRUCT(bench::trip, traveller, flight, people);
SETTLE_STRUCT(bench::seat_request, flight, people);
SETTLE_STRUCT(bench::ticket, number, price);
SETTLE_STRUCT(bench::room_request, traveller, ticket);
SETTLE_STRUCT(bench::room, number);
SETTLE_STRUCT(bench::charge, traveller, amount);

namespace bench {

inline constexpr settle::service<seat_request, ticket, "airline", settle::barrier> airline;
inline constexpr settle::service<room_request, room, "hotel", settle::barrier> hotel;
inline constexpr settle::service<charge, settle::nothing, "bank", settle::barrier> bank;

inline constexpr auto trip_type = settle::transaction<trip, "trip">(
    settle::participant<"flight">(airline)
        .apply(settle::call(settle::param<&trip::flight>, settle::param<&trip::people>))
        .compensate(settle::call()),
    settle::participant<"room">(hotel)
        .apply(settle::call(settle::param<&trip::traveller>,
                            settle::result_from<"flight", &ticket::number>))
        .compensate(settle::call()),
    settle::participant<"card">(bank).apply(settle::call(
        settle::param<&trip::traveller>, settle::result_from<"flight", &ticket::price>)));

/// The three services. They answer at once, and count their calls.
struct travel_services {
    std::int64_t tickets = 0;
    std::int64_t rooms = 0;
    std::int64_t charges = 0;
    std::int64_t charged = 0;

    ticket answer(seat_request const& seats) { return {++tickets, 100 * seats.people}; }
    room answer(room_request const&) { return {++rooms}; }
    settle::nothing answer(charge const& charge) {
        ++charges;
        charged += charge.amount;
        return {};
    }
};

using trip_request = std::pair<std::string, trip>;

struct trips {
    std::vector<trip_request> requests;
    std::int64_t price = 0; ///< of all trips
};

[[nodiscard]] inline trips make_trips(std::size_t count) {
    trips trips;
    std::mt19937_64 chance{20251121};
    for (std::size_t i = 0; i < count; ++i) {
        auto const people = static_cast<std::int64_t>(1 + chance() % 4);
        trips.price += 100 * people;
        trips.requests.emplace_back(detail::ordered_id(i + 1),
                                    trip{detail::account_id(chance() % 10'000), "LH 442", people});
    }
    return trips;
}

/// Errors:  throws wrong_result unless each service took one call for each trip
inline void check_services(travel_services const& services, trips const& work) {
    auto const count = static_cast<std::int64_t>(work.requests.size());
    if (services.tickets != count || services.rooms != count || services.charges != count ||
        services.charged != work.price) {
        throw wrong_result("the services took other calls than one for each trip");
    }
}

} // namespace bench
