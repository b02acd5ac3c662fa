// SPDX-License-Identifier: BSL-1.0
// Plain constants have no value that a proof can look at.
// expect: settle: nothing keeps a debit from passing below zero.
#include "bank.hpp"

namespace bank {

inline constexpr auto transfer_type =
    transaction<transfer, "transfer">(participant<"source">(accounts, param<&transfer::source>)
#ifdef FIXED
                                          .require(field<&account::balance> >= lit<10>)
                                          .apply(field<&account::balance> -= lit<10>)
#else
                                          .require(field<&account::balance> >= 5)
                                          .apply(field<&account::balance> -= 10)
#endif
                                          .compensate(settle::inverse));

} // namespace bank
