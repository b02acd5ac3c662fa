// SPDX-License-Identifier: BSL-1.0
// Only a condition can be denied.
// expect: settle: and, or, not take conditions.
#include "bank.hpp"

namespace bank {

inline constexpr auto transfer_type = transaction<transfer, "transfer">(
    participant<"source">(accounts, param<&transfer::source>)
#ifdef FIXED
        .require(field<&account::balance> == 0)
#else
        .require(!field<&account::balance>)
#endif
        .confirm(field<&account::balance> += param<&transfer::amount>));

} // namespace bank
