// SPDX-License-Identifier: BSL-1.0
// A boolean is no number.
// expect: settle: a comparison between types that lose information.
#include "bank.hpp"

namespace bank {

inline constexpr auto transfer_type = transaction<transfer, "transfer">(
    participant<"source">(accounts, param<&transfer::source>)
#ifdef FIXED
        .require(field<&account::frozen> == false)
#else
        .require(field<&account::frozen> == 0)
#endif
        .confirm(field<&account::balance> += param<&transfer::amount>));

} // namespace bank
