// SPDX-License-Identifier: BSL-1.0
// Only conditions can be joined.
// expect: settle: and, or, not take conditions.
#include "bank.hpp"

namespace bank {

inline constexpr auto transfer_type = transaction<transfer, "transfer">(
    participant<"source">(accounts, param<&transfer::source>)
#ifdef FIXED
        .require(field<&account::balance> > lit<0> && !field<&account::frozen>)
#else
        .require(field<&account::balance> && !field<&account::frozen>)
#endif
        .confirm(field<&account::balance> += param<&transfer::amount>));

} // namespace bank
