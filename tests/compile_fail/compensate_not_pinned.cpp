// SPDX-License-Identifier: BSL-1.0
// A compensation that assigns a value which no guard requires as the old value.
// expect: settle: this 'compensate' is not shown to undo its 'apply'.
#include "bank.hpp"

namespace bank {

inline constexpr auto transfer_type =
    transaction<transfer, "transfer">(participant<"source">(accounts, param<&transfer::source>)
#ifdef FIXED
                                          .require(field<&account::state> == lit<status::open>)
#else
#endif
                                          .apply(field<&account::state> = lit<status::closed>)
                                          .compensate(field<&account::state> = lit<status::open>));

} // namespace bank
