// SPDX-License-Identifier: BSL-1.0
// The transfer of MongoDB's tutorial "Perform Two Phase Commits", with its accounts and with both
// effects while pending, so that settle can finish the tutorial's leftovers.
#pragma once

#include <settle/settle.hpp>

#include <cstdint>
#include <string>

namespace bank::tutorial {

struct account {
    std::string id;
    std::int64_t balance;
};

struct transfer {
    std::string source;
    std::string destination;
    std::int64_t amount; // the documents' `value`
};

using settle::field;
using settle::param;

inline constexpr settle::collection<account, "accounts", &account::id> accounts;

/// The credit shows while the transfer may still be canceled, as in the documents. New programs
/// should use bank::transfer_type.
inline constexpr auto transfer_type = settle::transaction<transfer, "transfer">(
    settle::participant<"source">(accounts, param<&transfer::source>)
        .require(field<&account::balance> >= param<&transfer::amount>)
        .apply(field<&account::balance> -= param<&transfer::amount>)
        .compensate(field<&account::balance> += param<&transfer::amount>),
    settle::participant<"destination">(accounts, param<&transfer::destination>)
        .apply(field<&account::balance> += param<&transfer::amount>)
        .compensate(settle::inverse));

} // namespace bank::tutorial
