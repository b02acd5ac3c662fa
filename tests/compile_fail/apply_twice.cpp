// SPDX-License-Identifier: BSL-1.0
// All effects of one moment stand in one call.
// expect: settle: 'apply' is given twice.
#include "bank.hpp"

namespace bank {

inline constexpr auto transfer_type = transaction<transfer, "transfer">(
    participant<"source">(accounts, param<&transfer::source>)
#ifdef FIXED
        .apply(field<&account::visits> += lit<1>,
               field<&account::balance> += param<&transfer::amount>)
#else
        .apply(field<&account::visits> += lit<1>)
        .apply(field<&account::balance> += param<&transfer::amount>)
#endif
        .compensate(settle::inverse));

} // namespace bank
