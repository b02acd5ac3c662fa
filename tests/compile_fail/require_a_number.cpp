// SPDX-License-Identifier: BSL-1.0
// A sum is no condition.
// expect: settle: 'require' takes a condition
#include "bank.hpp"

namespace bank {

inline constexpr auto transfer_type = transaction<transfer, "transfer">(
    participant<"source">(accounts, param<&transfer::source>)
#ifdef FIXED
        .require(field<&account::balance> - param<&transfer::amount> >= lit<0>)
#else
        .require(field<&account::balance> - param<&transfer::amount>)
#endif
        .confirm(field<&account::balance> += param<&transfer::amount>));

} // namespace bank
