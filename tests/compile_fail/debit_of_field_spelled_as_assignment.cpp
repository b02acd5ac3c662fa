// SPDX-License-Identifier: BSL-1.0
// An unguarded debit of a field's value, spelled as an assignment.
// expect: settle: nothing keeps a debit from passing below zero.
#include "bank.hpp"

namespace bank {

inline constexpr auto transfer_type = transaction<transfer, "transfer">(
    participant<"source">(accounts, param<&transfer::source>)
#ifdef FIXED
        .require(field<&account::balance> >= field<&account::reserved>)
#else
        .require(field<&account::balance> >= param<&transfer::amount>)
#endif
        .confirm(field<&account::balance> = field<&account::balance> - field<&account::reserved>));

} // namespace bank
