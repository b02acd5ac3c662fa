// SPDX-License-Identifier: BSL-1.0
// Each debit is guarded, their sum is not.
// expect: settle: nothing keeps a debit from passing below zero.
#include "bank.hpp"

namespace bank {

inline constexpr auto transfer_type = transaction<transfer, "transfer">(
    participant<"source">(accounts, param<&transfer::source>)
#ifdef FIXED
        .require(field<&account::balance> >= param<&transfer::amount> + param<&transfer::fee>)
#else
        .require(field<&account::balance> >= param<&transfer::amount> &&
                 field<&account::balance> >= param<&transfer::fee>)
#endif
        .apply(field<&account::balance> -= param<&transfer::amount>,
               field<&account::balance> -= param<&transfer::fee>)
        .compensate(settle::inverse));

} // namespace bank
