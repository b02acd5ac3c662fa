// SPDX-License-Identifier: BSL-1.0
// Times of two units.
// expect: settle: a comparison between types that lose information.
#include "bank.hpp"

namespace bank {

inline constexpr auto transfer_type = transaction<transfer, "transfer">(
    participant<"source">(accounts, param<&transfer::source>)
#ifdef FIXED
        .require(field<&account::since> <= param<&transfer::at>)
#else
        .require(field<&account::since> <= param<&transfer::at_minute>)
#endif
        .confirm(field<&account::balance> += param<&transfer::amount>));

} // namespace bank
