// SPDX-License-Identifier: BSL-1.0
// Another spelling of an unguarded debit.
// expect: settle: nothing keeps a debit from passing below zero.
#include "bank.hpp"

namespace bank {

inline constexpr auto transfer_type = transaction<transfer, "transfer">(
    participant<"source">(accounts, param<&transfer::source>)
#ifdef FIXED
        .require(field<&account::balance> >= param<&transfer::amount> + param<&transfer::fee>)
#else
        .require(field<&account::balance> >= param<&transfer::amount>)
#endif
        .apply(field<&account::balance> =
                   field<&account::balance> - param<&transfer::amount> - param<&transfer::fee>)
        .compensate(settle::inverse));

} // namespace bank
