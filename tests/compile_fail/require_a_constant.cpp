// SPDX-License-Identifier: BSL-1.0
// A condition that depends on nothing.
// expect: settle: 'require' takes a condition
#include "bank.hpp"

namespace bank {

inline constexpr auto transfer_type = transaction<transfer, "transfer">(
    participant<"source">(accounts, param<&transfer::source>)
#ifdef FIXED
        .require(!field<&account::frozen>)
#else
        .require(true)
#endif
        .confirm(field<&account::balance> += param<&transfer::amount>));

} // namespace bank
