// SPDX-License-Identifier: BSL-1.0
// The rest of a division would be lost.
// expect: settle: an expression has + - * and no division
#include "bank.hpp"

namespace bank {

inline constexpr auto half_type =
    transaction<transfer, "half">(participant<"source">(accounts, param<&transfer::source>)
#ifdef FIXED
                                      .require(field<&account::balance> >= param<&transfer::amount>)
#else
                                      .require(field<&account::balance> >=
                                               param<&transfer::amount> / 2)
#endif
                                      .apply(field<&account::balance> -= param<&transfer::amount>)
                                      .compensate(settle::inverse));

} // namespace bank
