// SPDX-License-Identifier: BSL-1.0
// Text is no number.
// expect: settle: a comparison between types that lose information.
#include "bank.hpp"

namespace bank {

inline constexpr auto transfer_type = transaction<transfer, "transfer">(
    participant<"source">(accounts, param<&transfer::source>)
#ifdef FIXED
        .require(field<&account::owner> == "5")
#else
        .require(field<&account::owner> == 5)
#endif
        .confirm(field<&account::balance> += param<&transfer::amount>));

} // namespace bank
