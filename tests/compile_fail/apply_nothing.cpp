// SPDX-License-Identifier: BSL-1.0
// A moment without an effect.
// expect: settle: this is no effect.
#include "bank.hpp"

namespace bank {

inline constexpr auto transfer_type = transaction<transfer, "transfer">(
    participant<"source">(accounts, param<&transfer::source>)
#ifdef FIXED
        .apply(field<&account::balance> += param<&transfer::amount>)
#else
        .apply()
#endif
        .compensate(settle::inverse));

} // namespace bank
