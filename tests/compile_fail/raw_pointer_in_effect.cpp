// SPDX-License-Identifier: BSL-1.0
// A member pointer without settle::param.
// expect: settle: a pointer to a member has no value here.
#include "bank.hpp"

namespace bank {

inline constexpr auto transfer_type = transaction<transfer, "transfer">(
    participant<"source">(accounts, param<&transfer::source>)
#ifdef FIXED
        .confirm(field<&account::balance> += param<&transfer::amount>)
#else
        .confirm(field<&account::balance> += &transfer::amount)
#endif
);

} // namespace bank
