// SPDX-License-Identifier: BSL-1.0
// A guard on a field that the collection does not have.
// expect: settle: a guard on a field of another record.
#include "bank.hpp"

namespace bank {

inline constexpr auto transfer_type = transaction<transfer, "transfer">(
    participant<"source">(accounts, param<&transfer::source>)
#ifdef FIXED
        .require(field<&account::balance> >= param<&transfer::amount>)
#else
        .require(field<&order::total> >= param<&transfer::amount>)
#endif
        .apply(field<&account::balance> -= param<&transfer::amount>)
        .compensate(settle::inverse));

} // namespace bank
