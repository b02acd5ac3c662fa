// SPDX-License-Identifier: BSL-1.0
// A transfer of money between two accounts: the whole definition.
#pragma once

#include <settle/settle.hpp>

#include <cstdint>
#include <string>

namespace bank {

/// The record of an account. Money is an integer of hundredths.
struct account {
    std::string id;
    std::int64_t balance;
    std::int64_t opened_with; // never changes; `check` compares the two sums
};

/// The parameters of a transfer.
struct transfer {
    std::string source;
    std::string destination;
    std::int64_t amount;
};

using settle::field;
using settle::lit;
using settle::param;

/// All accounts, by their id: in SQL a table, in MongoDB a collection.
inline constexpr settle::collection<account, "accounts", &account::id> accounts;

/// Takes the amount from the source while the transfer is pending, and gives it back if the
/// transfer is canceled. Adds it to the destination only when the transfer is certain, so no reader
/// ever sees or spends money that may have to go back.
inline constexpr auto transfer_type =
    settle::transaction<transfer, "transfer">(
        settle::participant<"source">(accounts, param<&transfer::source>)
            .require(field<&account::balance> >= param<&transfer::amount>)
            .apply(field<&account::balance> -= param<&transfer::amount>)
            .compensate(field<&account::balance> += param<&transfer::amount>),
        settle::participant<"destination">(accounts, param<&transfer::destination>)
            .confirm(field<&account::balance> += param<&transfer::amount>))
        .require(param<&transfer::amount> > lit<0>)
        .require(param<&transfer::source> != param<&transfer::destination>);

} // namespace bank
