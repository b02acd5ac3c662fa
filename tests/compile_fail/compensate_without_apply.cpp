// SPDX-License-Identifier: BSL-1.0
// A confirm is never undone.
// expect: settle: a participant has 'compensate' and no 'apply'.
#include "bank.hpp"

namespace bank {

inline constexpr auto transfer_type = transaction<transfer, "transfer">(
    participant<"source">(accounts, param<&transfer::source>)
        .confirm(field<&account::balance> += param<&transfer::amount>)
#ifdef FIXED
#else
        .compensate(field<&account::balance> -= param<&transfer::amount>)
#endif
);

} // namespace bank
