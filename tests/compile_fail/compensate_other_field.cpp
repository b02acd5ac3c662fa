// SPDX-License-Identifier: BSL-1.0
// A compensation of another field.
// expect: settle: this 'compensate' is not shown to undo its 'apply'.
#include "bank.hpp"

namespace bank {

inline constexpr auto transfer_type = transaction<transfer, "transfer">(
    participant<"source">(accounts, param<&transfer::source>)
        .require(field<&account::balance> >= param<&transfer::amount>)
        .apply(field<&account::balance> -= param<&transfer::amount>)
#ifdef FIXED
        .compensate(field<&account::balance> += param<&transfer::amount>)
#else
        .compensate(field<&account::reserved> += param<&transfer::amount>)
#endif
);

} // namespace bank
