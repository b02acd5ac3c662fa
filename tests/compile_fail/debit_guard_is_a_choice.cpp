// SPDX-License-Identifier: BSL-1.0
// A condition that need not hold is not a bound.
// expect: settle: nothing keeps a debit from passing below zero.
#include "bank.hpp"

namespace bank {

inline constexpr auto transfer_type = transaction<transfer, "transfer">(
    participant<"source">(accounts, param<&transfer::source>)
#ifdef FIXED
        .require(field<&account::balance> >= param<&transfer::amount> && !field<&account::frozen>)
#else
        .require(field<&account::balance> >= param<&transfer::amount> || !field<&account::frozen>)
#endif
        .apply(field<&account::balance> -= param<&transfer::amount>)
        .compensate(settle::inverse));

} // namespace bank
