// SPDX-License-Identifier: BSL-1.0
// The types that the tests of the console run.
#pragma once

#include <settle/settle.hpp>

#include <string>

namespace console_bank {

struct account {
    std::string id;
    std::int64_t balance;
};

struct transfer {
    std::string source;
    std::string destination;
    std::int64_t amount;
    std::string pin;
};

} // namespace console_bank

SETTLE_STRUCT(console_bank::account, id, balance);
SETTLE_STRUCT(console_bank::transfer, source, destination, amount, pin);
template <>
inline constexpr bool settle::secret<&console_bank::transfer::pin> = true;

namespace console_bank {

inline constexpr settle::collection<account, "accounts", &account::id> accounts;

using settle::field, settle::param;
inline constexpr auto transfer_type = settle::transaction<transfer, "transfer">(
    settle::participant<"source">(accounts, param<&transfer::source>)
        .require(field<&account::balance> >= param<&transfer::amount>)
        .apply(field<&account::balance> -= param<&transfer::amount>)
        .compensate(settle::inverse),
    settle::participant<"destination">(accounts, param<&transfer::destination>)
        .confirm(field<&account::balance> += param<&transfer::amount>));

} // namespace console_bank
