// SPDX-License-Identifier: BSL-1.0
// A negative amount is a debit in disguise.
// expect: settle: the operand of += and -= is never negative.
#include "bank.hpp"

namespace bank {

inline constexpr auto transfer_type =
    transaction<transfer, "transfer">(participant<"source">(accounts, param<&transfer::source>)
#ifdef FIXED
                                          .apply(field<&account::balance> += lit<5>)
#else
                                          .apply(field<&account::balance> += lit<-5>)
#endif
                                          .compensate(settle::inverse));

} // namespace bank
