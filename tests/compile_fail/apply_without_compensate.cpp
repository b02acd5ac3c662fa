// SPDX-License-Identifier: BSL-1.0
// A participant must be able to undo its apply.
// expect: settle: a participant has 'apply' and no 'compensate'.
#include "bank.hpp"

namespace bank {

inline constexpr auto transfer_type = transaction<transfer, "transfer">(
    participant<"source">(accounts, param<&transfer::source>)
        .require(field<&account::balance> >= param<&transfer::amount>)
        .apply(field<&account::balance> -= param<&transfer::amount>)
#ifdef FIXED
        .compensate(settle::inverse)
#else
#endif
);

} // namespace bank
