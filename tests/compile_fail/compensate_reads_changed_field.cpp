// SPDX-License-Identifier: BSL-1.0
// The operand has another value when the apply has changed what it reads.
// expect: settle: this 'compensate' is not shown to undo its 'apply'.
#include "bank.hpp"

namespace bank {

inline constexpr auto transfer_type = transaction<transfer, "transfer">(
    participant<"source">(accounts, param<&transfer::source>)
        .apply(settle::may_pass_zero(field<&account::balance> -= field<&account::balance>))
#ifdef FIXED
        .compensate(settle::inverse)
#else
        .compensate(field<&account::balance> += field<&account::balance>)
#endif
);

} // namespace bank
