// SPDX-License-Identifier: BSL-1.0
// Two conditions are joined, not listed.
// expect: settle: 'require' takes one condition.
#include "bank.hpp"

namespace bank {

inline constexpr auto transfer_type = transaction<transfer, "transfer">(
    participant<"source">(accounts, param<&transfer::source>)
#ifdef FIXED
        .require(field<&account::balance> >= param<&transfer::amount> && !field<&account::frozen>)
#else
        .require(field<&account::balance> >= param<&transfer::amount>, !field<&account::frozen>)
#endif
        .confirm(field<&account::balance> += param<&transfer::amount>));

} // namespace bank
