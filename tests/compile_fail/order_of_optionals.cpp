// SPDX-License-Identifier: BSL-1.0
// An empty value is neither more nor less.
// expect: settle: booleans, enums and optional values have no order here.
#include "bank.hpp"

namespace bank {

inline constexpr auto transfer_type = transaction<transfer, "transfer">(
    participant<"source">(accounts, param<&transfer::source>)
#ifdef FIXED
        .require(field<&account::limit> == param<&transfer::amount>)
#else
        .require(field<&account::limit> >= param<&transfer::amount>)
#endif
        .confirm(field<&account::balance> += param<&transfer::amount>));

} // namespace bank
