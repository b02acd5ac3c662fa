// SPDX-License-Identifier: BSL-1.0
// Enumerators of two enums.
// expect: settle: a comparison between types that lose information.
#include "bank.hpp"

namespace bank {

inline constexpr auto transfer_type = transaction<transfer, "transfer">(
    participant<"source">(accounts, param<&transfer::source>)
#ifdef FIXED
        .require(field<&account::state> == param<&transfer::state>)
#else
        .require(field<&account::state> == param<&transfer::tint>)
#endif
        .confirm(field<&account::balance> += param<&transfer::amount>));

} // namespace bank
