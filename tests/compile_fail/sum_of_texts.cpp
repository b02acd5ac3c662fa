// SPDX-License-Identifier: BSL-1.0
// Texts are not added.
// expect: settle: + - * take integers.
#include "bank.hpp"

namespace bank {

inline constexpr auto transfer_type = transaction<transfer, "transfer">(
    participant<"source">(accounts, param<&transfer::source>)
#ifdef FIXED
        .require(field<&account::owner> == "ab")
#else
        .require(field<&account::owner> + param<&transfer::note> == "ab")
#endif
        .confirm(field<&account::balance> += param<&transfer::amount>));

} // namespace bank
