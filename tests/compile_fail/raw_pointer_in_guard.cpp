// SPDX-License-Identifier: BSL-1.0
// A member pointer without settle::param.
// expect: settle: a pointer to a member has no value here.
#include "bank.hpp"

namespace bank {

inline constexpr auto transfer_type = transaction<transfer, "transfer">(
    participant<"source">(accounts, param<&transfer::source>)
#ifdef FIXED
        .require(field<&account::balance> >= param<&transfer::amount>)
#else
        .require(field<&account::balance> >= &transfer::amount)
#endif
        .apply(field<&account::balance> -= param<&transfer::amount>)
        .compensate(settle::inverse));

} // namespace bank
