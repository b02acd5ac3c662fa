// SPDX-License-Identifier: BSL-1.0
// A single = after an && takes all that stands before it.
// expect: settle: and, or, not take conditions.
#include "bank.hpp"

namespace bank {

inline constexpr auto transfer_type = transaction<transfer, "transfer">(
    participant<"source">(accounts, param<&transfer::source>)
#ifdef FIXED
        .require(field<&account::frozen> == false && field<&account::state> == status::open)
#else
        .require(field<&account::frozen> == false && field<&account::state> = status::open)
#endif
        .confirm(field<&account::balance> += param<&transfer::amount>));

} // namespace bank
