// SPDX-License-Identifier: BSL-1.0
// It is the effect that is signed, not its operand.
// expect: settle: settle::signed_operand takes an effect
#include "bank.hpp"

namespace bank {

inline constexpr auto transfer_type = transaction<transfer, "transfer">(
    participant<"source">(accounts, param<&transfer::source>)
#ifdef FIXED
        .confirm(settle::may_pass_zero(
            settle::signed_operand(field<&account::balance> += param<&transfer::amount>)))
#else
        .confirm(field<&account::balance> += settle::signed_operand(param<&transfer::amount>))
#endif
);

} // namespace bank
