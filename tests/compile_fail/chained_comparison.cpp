// SPDX-License-Identifier: BSL-1.0
// A comparison of three.
// expect: settle: a comparison between types that lose information.
#include "bank.hpp"

namespace bank {

inline constexpr auto transfer_type = transaction<transfer, "transfer">(
    participant<"source">(accounts, param<&transfer::source>)
#ifdef FIXED
        .require(lit<0> <= field<&account::balance> &&
                 field<&account::balance> <= param<&transfer::amount>)
#else
        .require(lit<0> <= field<&account::balance> <= param<&transfer::amount>)
#endif
        .confirm(field<&account::balance> += param<&transfer::amount>));

} // namespace bank
