// SPDX-License-Identifier: BSL-1.0
// A user's bank, which both translation units of the program use.
#pragma once

#include <settle/settle.hpp>

#include <cstdint>
#include <iostream>
#include <string>

namespace bank {
struct account {
    std::string id;
    std::int64_t balance;
};
struct transfer {
    std::string source, destination;
    std::int64_t amount;
};
} // namespace bank
BOOST_HANA_ADAPT_STRUCT(bank::account, id, balance);
BOOST_HANA_ADAPT_STRUCT(bank::transfer, source, destination, amount);

namespace bank {
using settle::field, settle::param;

inline constexpr settle::collection<account, "accounts", &account::id> accounts;

inline constexpr auto transfer_type = settle::transaction<transfer, "transfer">(
    settle::participant<"source">(accounts, param<&transfer::source>)
        .require(field<&account::balance> >= param<&transfer::amount>)
        .apply(field<&account::balance> -= param<&transfer::amount>)
        .compensate(field<&account::balance> += param<&transfer::amount>),
    settle::participant<"destination">(accounts, param<&transfer::destination>)
        .confirm(field<&account::balance> += param<&transfer::amount>));

/// True if the balances are right after one transfer that can be paid and one that cannot.
template <typename Database>
bool settles(Database& database) {
    settle::engine engine{database, settle::type<transfer_type>};
    bool const opened = engine.create(accounts, account{"A", 150}).has_value() &&
                        engine.create(accounts, account{"B", 0}).has_value();
    auto const paid = engine.run(transfer{"A", "B", 100});
    auto const refused = engine.run(transfer{"A", "B", 100});
    std::cout << paid << '\n' << refused << '\n';
    auto const source = engine.read(accounts, "A");
    auto const destination = engine.read(accounts, "B");
    return opened && paid.done() && refused.canceled() && source.value()->balance == 50 &&
           destination.value()->balance == 100;
}

/// The same in a new database file.
bool settles_in_file();

} // namespace bank
