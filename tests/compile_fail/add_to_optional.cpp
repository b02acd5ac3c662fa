// SPDX-License-Identifier: BSL-1.0
// An optional field takes no sum.
// expect: settle: += and -= take an integer field and an integer operand.
#include "bank.hpp"

namespace bank {

inline constexpr auto transfer_type =
    transaction<transfer, "transfer">(participant<"source">(accounts, param<&transfer::source>)
#ifdef FIXED
                                          .apply(field<&account::limit> = param<&transfer::amount>)
#else
                                          .apply(field<&account::limit> += param<&transfer::amount>)
#endif
                                          .compensate(settle::inverse));

} // namespace bank
