// SPDX-License-Identifier: BSL-1.0
// A comparison for an effect.
// expect: settle: this is no effect.
#include "bank.hpp"

namespace bank {

inline constexpr auto transfer_type =
    transaction<transfer, "transfer">(participant<"source">(accounts, param<&transfer::source>)
#ifdef FIXED
                                          .apply(field<&account::state> = lit<status::closed>)
#else
                                          .apply(field<&account::state> == lit<status::closed>)
#endif
                                          .compensate(settle::inverse));

} // namespace bank
