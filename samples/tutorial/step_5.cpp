// SPDX-License-Identifier: BSL-1.0
// Step 5: two services and their compensations.
#include "bank.hpp"

#include <settle/memory.hpp>

#include <iostream>
#include <map>

struct guest { // the request that both services get
    std::string name;
};
struct trip {
    std::string traveller;
    std::int64_t price;
};

inline constexpr settle::service<guest, settle::nothing, "airline", settle::barrier> airline;
inline constexpr settle::service<guest, settle::nothing, "hotel", settle::barrier> hotel;

inline constexpr auto trip_type = settle::transaction<trip, "trip">(
    settle::participant<"budget">(accounts, param<&trip::traveller>)
        .require(field<&account::balance> >= param<&trip::price>)
        .apply(field<&account::balance> -= param<&trip::price>)
        .compensate(settle::inverse),
    settle::participant<"seat">(airline).apply(call(param<&trip::traveller>)).compensate(call()),
    settle::participant<"room">(hotel).apply(call(param<&trip::traveller>)).compensate(call()));

struct box_office { // a service in this process
    int free;
    std::map<std::string, bool> booked; // a row for each key

    settle::reply<> operator()(guest const&, settle::service_call const& call) {
        std::cout << name_of(call.operation) << ' ' << call.participant << '\n';
        auto const [row, is_new] = booked.try_emplace(std::string{call.key}, false);
        if (call.operation == settle::call_operation::compensate) {
            free += row->second ? 1 : 0;
            row->second = false;
        } else if (is_new && free > 0) {
            --free;
            row->second = true;
        } else if (!row->second) {
            return settle::service_answer::refused("nothing is free");
        }
        return settle::nothing{};
    }
};

int main() {
    settle::memory::database db;
    box_office seats{2, {}}, rooms{1, {}};
    settle::engine engine{db, settle::type<trip_type>, settle::bind(airline, seats),
                          settle::bind(hotel, rooms)};
    for (char const* name : {"anna", "bert"}) {
        engine.create(accounts, {name, 500}).value();
        std::cout << name_of(engine.run(trip{name, 300}).verdict) << '\n';
        std::cout << name << " has " << engine.at(accounts, name).balance << '\n';
    }
}
