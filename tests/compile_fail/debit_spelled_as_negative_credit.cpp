// SPDX-License-Identifier: BSL-1.0
// Adding a negative number is a debit.
// expect: settle: nothing keeps a debit from passing below zero.
#include "bank.hpp"

namespace bank {

inline constexpr auto transfer_type = transaction<transfer, "transfer">(
    participant<"source">(accounts, param<&transfer::source>)
#ifdef FIXED
        .require(field<&account::balance> >= lit<5>)
        .confirm(field<&account::balance> = field<&account::balance> + lit<-5>)
#else
        .confirm(field<&account::balance> = field<&account::balance> + lit<-5>)
#endif
);

} // namespace bank
