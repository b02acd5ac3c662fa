// SPDX-License-Identifier: BSL-1.0
// One apply has one compensation.
// expect: settle: 'compensate' is given twice.
#include "bank.hpp"

namespace bank {

inline constexpr auto transfer_type = transaction<transfer, "transfer">(
    participant<"source">(accounts, param<&transfer::source>)
        .apply(field<&account::balance> += param<&transfer::amount>)
#ifdef FIXED
        .compensate(field<&account::balance> -= param<&transfer::amount>)
#else
        .compensate(settle::inverse)
        .compensate(field<&account::balance> -= param<&transfer::amount>)
#endif
);

} // namespace bank
