// SPDX-License-Identifier: BSL-1.0
// A text has no sign.
// expect: settle: + - * take integers.
#include "bank.hpp"

namespace bank {

inline constexpr auto transfer_type = transaction<transfer, "transfer">(
    participant<"source">(accounts, param<&transfer::source>)
#ifdef FIXED
        .require(field<&account::owner> == "ab")
#else
        .require(-field<&account::owner> == "ab")
#endif
        .confirm(field<&account::balance> += param<&transfer::amount>));

} // namespace bank
