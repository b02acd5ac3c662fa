// SPDX-License-Identifier: BSL-1.0
// A member pointer for an effect.
// expect: settle: this is no effect.
#include "bank.hpp"

namespace bank {

inline constexpr auto transfer_type = transaction<transfer, "transfer">(
    participant<"source">(accounts, param<&transfer::source>)
#ifdef FIXED
        .confirm(field<&account::balance> += param<&transfer::amount>)
#else
        .confirm(&account::balance)
#endif
);

} // namespace bank
