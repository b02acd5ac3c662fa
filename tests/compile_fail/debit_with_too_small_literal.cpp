// SPDX-License-Identifier: BSL-1.0
// A guard that requires less than the debit takes.
// expect: settle: nothing keeps a debit from passing below zero.
#include "bank.hpp"

namespace bank {

inline constexpr auto transfer_type =
    transaction<transfer, "transfer">(participant<"source">(accounts, param<&transfer::source>)
#ifdef FIXED
                                          .require(field<&account::balance> >= lit<10>)
#else
                                          .require(field<&account::balance> >= lit<5>)
#endif
                                          .apply(field<&account::balance> -= lit<10>)
                                          .compensate(settle::inverse));

} // namespace bank
