// SPDX-License-Identifier: BSL-1.0
// The apply changes the field that the operand reads.
// expect: settle: this 'compensate' is not shown to undo its 'apply'.
#include "bank.hpp"

namespace bank {

inline constexpr auto transfer_type = transaction<transfer, "transfer">(
    participant<"source">(accounts, param<&transfer::source>)
        .require(field<&account::balance> >= field<&account::reserved>)
        .require(field<&account::reserved> == lit<7>)
        .apply(field<&account::balance> -= field<&account::reserved>,
               field<&account::reserved> = lit<0>)
#ifdef FIXED
        .compensate(settle::inverse)
#else
        .compensate(field<&account::balance> += field<&account::reserved>,
                    field<&account::reserved> = lit<7>)
#endif
);

} // namespace bank
