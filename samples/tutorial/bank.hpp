// SPDX-License-Identifier: BSL-1.0
// The records and the transaction type of the tutorial's bank.
#pragma once

#include <settle/settle.hpp>

#include <cstdint>
#include <string>

struct account { // a record: what a store keeps under one key
    std::string id;
    std::int64_t balance; // money is an integer: hundredths of a euro
};
struct transfer { // the parameters of one transfer
    std::string source, destination;
    std::int64_t amount;
};

using settle::call, settle::field, settle::lit, settle::param;

// All accounts: their record, the name of the table, and the member that is the key.
inline constexpr settle::collection<account, "accounts", &account::id> accounts;

inline constexpr auto transfer_type = settle::transaction<transfer, "transfer">(
    settle::participant<"source">(accounts, param<&transfer::source>)
        .require(field<&account::balance> >= param<&transfer::amount>)
        .apply(field<&account::balance> -= param<&transfer::amount>)
        .compensate(settle::inverse),
    settle::participant<"destination">(accounts, param<&transfer::destination>)
        .confirm(field<&account::balance> += param<&transfer::amount>));
