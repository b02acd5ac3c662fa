// SPDX-License-Identifier: BSL-1.0
// The guard covers the debit at apply, not the further debit at confirm.
// expect: settle: nothing keeps a debit from passing below zero.
#include "bank.hpp"

namespace bank {

inline constexpr auto transfer_type = transaction<transfer, "transfer">(
    participant<"source">(accounts, param<&transfer::source>)
#ifdef FIXED
        .require(field<&account::balance> >= param<&transfer::amount> + param<&transfer::fee>)
#else
        .require(field<&account::balance> >= param<&transfer::amount>)
#endif
        .apply(field<&account::balance> -= param<&transfer::amount>)
        .compensate(settle::inverse)
        .confirm(field<&account::balance> -= param<&transfer::fee>));

} // namespace bank
