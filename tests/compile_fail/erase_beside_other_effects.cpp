// SPDX-License-Identifier: BSL-1.0
// A participant that erases its record does nothing else.
// expect: settle: a participant that erases its record does nothing else to it.
#include "bank.hpp"

namespace bank {

inline constexpr auto transfer_type =
    transaction<transfer, "transfer">(participant<"source">(accounts, param<&transfer::source>)
#ifdef FIXED
#else
                                          .apply(field<&account::balance> +=
                                                 param<&transfer::amount>)
                                          .compensate(settle::inverse)
#endif
                                          .confirm(settle::erase));

} // namespace bank
