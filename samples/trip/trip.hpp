// SPDX-License-Identifier: BSL-1.0
// How an agency sells a trip: the definition, whole. Flight, hotel, car and card are services.
#pragma once

#include <settle/settle.hpp>

#include <cstdint>
#include <string>

namespace agency {

// The record. Money is an integer of hundredths.

struct account {
    std::string id;
    std::int64_t balance;
    std::int64_t opened_with; // never changes; `check` compares the sums
};

// The requests to the services, and their answers.

struct reservation {
    std::string item;   // a flight, a hotel, a kind of car
    std::int64_t units; // seats, rooms, cars
    std::int64_t days;
};

struct booking {
    std::string number;
    std::int64_t price;
};

struct payment {
    std::string card;
    std::int64_t amount;
};

struct receipt {
    std::string number;
    std::int64_t amount;
};

// The parameters of a trip.

struct trip {
    std::string traveller;
    std::int64_t price; // from the traveller to the agency
    std::string card;   // the agency pays flight, hotel and car with it
    std::string flight;
    std::int64_t people;
    std::string hotel;
    std::int64_t rooms;
    std::int64_t nights;
    std::string car;
    std::int64_t days;
};

using settle::call;
using settle::field;
using settle::lit;
using settle::param;
using settle::result_from;

inline constexpr settle::collection<account, "accounts", &account::id> accounts;
inline constexpr settle::service<reservation, booking, "flight", settle::barrier> flights;
inline constexpr settle::service<reservation, booking, "hotel", settle::barrier> hotels;
inline constexpr settle::service<reservation, booking, "car", settle::barrier> cars;
inline constexpr settle::service<payment, receipt, "card", settle::barrier> cards;

/// Sells a trip. After a cancel nothing is booked, nothing is charged, and the money is back.
inline constexpr auto trip_type = settle::transaction<trip, "trip">(
    settle::participant<"traveller">(accounts, param<&trip::traveller>)
        .require(field<&account::balance> >= param<&trip::price>)
        .apply(field<&account::balance> -= param<&trip::price>)
        .compensate(settle::inverse),
    settle::participant<"agency">(accounts, lit<"agency">)
        .confirm(field<&account::balance> += param<&trip::price>),
    settle::participant<"flight">(flights)
        .apply(call(param<&trip::flight>, param<&trip::people>, lit<1>))
        .confirm(call())
        .compensate(call()),
    // Both are called at the same time.
    settle::together(
        settle::participant<"hotel">(hotels)
            .apply(call(param<&trip::hotel>, param<&trip::rooms>, param<&trip::nights>))
            .confirm(call())
            .compensate(call()),
        settle::participant<"car">(cars)
            .apply(call(param<&trip::car>, lit<1>, param<&trip::days>))
            .confirm(call())
            .compensate(call())),
    // The pivot: a charge cannot be undone, so it comes last.
    settle::participant<"card">(cards).apply(
        call(param<&trip::card>, result_from<"flight", &booking::price> +
                                     result_from<"hotel", &booking::price> +
                                     result_from<"car", &booking::price>)));

} // namespace agency
