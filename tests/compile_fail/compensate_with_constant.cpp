// SPDX-License-Identifier: BSL-1.0
// No proof can look at a constant that is no settle::lit.
// expect: settle: this 'compensate' is not shown to undo its 'apply'.
#include "bank.hpp"

namespace bank {

inline constexpr auto transfer_type =
    transaction<transfer, "transfer">(participant<"source">(accounts, param<&transfer::source>)
#ifdef FIXED
                                          .apply(field<&account::visits> += lit<1>)
                                          .compensate(field<&account::visits> -= lit<1>)
#else
                                          .apply(field<&account::visits> += 1)
                                          .compensate(field<&account::visits> -= 1)
#endif
    );

} // namespace bank
