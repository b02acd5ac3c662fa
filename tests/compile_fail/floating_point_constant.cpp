// SPDX-License-Identifier: BSL-1.0
// A fraction that no store keeps exactly.
// expect: settle: a floating-point constant would lose information here.
#include "bank.hpp"

namespace bank {

inline constexpr auto transfer_type = transaction<transfer, "transfer">(
    participant<"source">(accounts, param<&transfer::source>)
#ifdef FIXED
        .require(field<&account::balance> >= lit<50>)
#else
        .require(field<&account::balance> >= 0.5)
#endif
        .confirm(field<&account::balance> += param<&transfer::amount>));

} // namespace bank
