// SPDX-License-Identifier: BSL-1.0
// Text is not added to.
// expect: settle: += and -= take an integer field and an integer operand.
#include "bank.hpp"

namespace bank {

inline constexpr auto transfer_type =
    transaction<transfer, "transfer">(participant<"source">(accounts, param<&transfer::source>)
#ifdef FIXED
                                          .apply(field<&account::owner> = param<&transfer::note>)
#else
                                          .apply(field<&account::owner> += param<&transfer::note>)
#endif
                                          .compensate(settle::inverse));

} // namespace bank
