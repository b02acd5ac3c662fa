// SPDX-License-Identifier: BSL-1.0
// A character is neither text nor number.
// expect: settle: this constant is of no type that a field can have.
#include "bank.hpp"

namespace bank {

inline constexpr auto transfer_type = transaction<transfer, "transfer">(
    participant<"source">(accounts, param<&transfer::source>)
#ifdef FIXED
        .require(field<&account::owner> == "x")
#else
        .require(field<&account::owner> == 'x')
#endif
        .confirm(field<&account::balance> += param<&transfer::amount>));

} // namespace bank
