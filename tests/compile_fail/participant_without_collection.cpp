// SPDX-License-Identifier: BSL-1.0
// A key alone names no record.
// expect: settle: settle::participant takes a collection
#include "bank.hpp"

namespace bank {

inline constexpr auto transfer_type = transaction<transfer, "transfer">(
#ifdef FIXED
    participant<"destination">(accounts, param<&transfer::destination>)
#else
    participant<"destination">(param<&transfer::destination>)
#endif
        .confirm(field<&account::balance> += param<&transfer::amount>));

} // namespace bank
