// SPDX-License-Identifier: BSL-1.0
// The guard sees another value than the debit at confirm.
// expect: settle: nothing keeps a debit from passing below zero.
#include "bank.hpp"

namespace bank {

inline constexpr auto transfer_type = transaction<transfer, "transfer">(
    participant<"source">(accounts, param<&transfer::source>)
        .require(field<&account::balance> >= param<&transfer::amount>)
#ifdef FIXED
        .apply(field<&account::balance> -= param<&transfer::amount>)
        .compensate(settle::inverse)
        .confirm(field<&account::reserved> = lit<0>)
#else
        .apply(field<&account::balance> = lit<0>)
        .compensate(settle::inverse)
        .confirm(field<&account::balance> -= param<&transfer::amount>)
#endif
);

} // namespace bank
