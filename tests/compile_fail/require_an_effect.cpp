// SPDX-License-Identifier: BSL-1.0
// A single = for a comparison.
// expect: settle: 'require' takes a condition
#include "bank.hpp"

namespace bank {

inline constexpr auto transfer_type = transaction<transfer, "transfer">(
    participant<"source">(accounts, param<&transfer::source>)
#ifdef FIXED
        .require(field<&account::state> == lit<status::open>)
#else
        .require(field<&account::state> = lit<status::open>)
#endif
        .confirm(field<&account::balance> += param<&transfer::amount>));

} // namespace bank
