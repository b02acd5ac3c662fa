// SPDX-License-Identifier: BSL-1.0
// An assignment back to another value than the guard requires.
// expect: settle: this 'compensate' is not shown to undo its 'apply'.
#include "bank.hpp"

namespace bank {

inline constexpr auto transfer_type =
    transaction<transfer, "transfer">(participant<"source">(accounts, param<&transfer::source>)
                                          .require(field<&account::state> == lit<status::open>)
                                          .apply(field<&account::state> = lit<status::closed>)
#ifdef FIXED
                                          .compensate(field<&account::state> = lit<status::open>)
#else
                                          .compensate(field<&account::state> = lit<status::closed>)
#endif
    );

} // namespace bank
