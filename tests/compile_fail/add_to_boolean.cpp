// SPDX-License-Identifier: BSL-1.0
// A boolean is not added to.
// expect: settle: += and -= take an integer field and an integer operand.
#include "bank.hpp"

namespace bank {

inline constexpr auto transfer_type =
    transaction<transfer, "transfer">(participant<"source">(accounts, param<&transfer::source>)
#ifdef FIXED
                                          .apply(field<&account::frozen> = lit<true>)
#else
                                          .apply(field<&account::frozen> += lit<1>)
#endif
                                          .compensate(settle::inverse));

} // namespace bank
