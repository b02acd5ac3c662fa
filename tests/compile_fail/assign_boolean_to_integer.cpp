// SPDX-License-Identifier: BSL-1.0
// A boolean is no number.
// expect: settle: an assignment between types that lose information.
#include "bank.hpp"

namespace bank {

inline constexpr auto transfer_type = transaction<transfer, "transfer">(
    participant<"source">(accounts, param<&transfer::source>)
#ifdef FIXED
        .apply(field<&account::balance> = param<&transfer::amount>)
#else
        .apply(field<&account::balance> = param<&transfer::urgent>)
#endif
        .compensate(settle::inverse));

} // namespace bank
