// SPDX-License-Identifier: BSL-1.0
// It is the debit that may pass zero, not its guard.
// expect: settle: settle::may_pass_zero takes an effect
#include "bank.hpp"

namespace bank {

inline constexpr auto transfer_type = transaction<transfer, "transfer">(
    participant<"source">(accounts, param<&transfer::source>)
#ifdef FIXED
        .apply(settle::may_pass_zero(field<&account::balance> -= param<&transfer::amount>))
#else
        .require(settle::may_pass_zero(field<&account::balance> >= param<&transfer::amount>))
        .apply(field<&account::balance> -= param<&transfer::amount>)
#endif
        .compensate(settle::inverse));

} // namespace bank
