// SPDX-License-Identifier: BSL-1.0
// Booleans have no order.
// expect: settle: booleans, enums and optional values have no order here.
#include "bank.hpp"

namespace bank {

inline constexpr auto transfer_type = transaction<transfer, "transfer">(
    participant<"source">(accounts, param<&transfer::source>)
#ifdef FIXED
        .require(field<&account::frozen> != param<&transfer::urgent>)
#else
        .require(field<&account::frozen> < param<&transfer::urgent>)
#endif
        .confirm(field<&account::balance> += param<&transfer::amount>));

} // namespace bank
