// SPDX-License-Identifier: BSL-1.0
// A credit of an amount that may be negative is a debit too.
// expect: settle: nothing keeps a debit from passing below zero.
#include "bank.hpp"

namespace bank {

inline constexpr auto transfer_type = transaction<transfer, "transfer">(
    participant<"source">(accounts, param<&transfer::source>)
#ifdef FIXED
        .require(field<&account::balance> + param<&transfer::amount> >= lit<0>)
        .confirm(settle::signed_operand(field<&account::balance> += param<&transfer::amount>))
#else
        .confirm(settle::signed_operand(field<&account::balance> += param<&transfer::amount>))
#endif
);

} // namespace bank
