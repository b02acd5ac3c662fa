// SPDX-License-Identifier: BSL-1.0
// 64 bits do not fit into 32.
// expect: settle: an assignment of an integer to a field of a narrower type.
#include "bank.hpp"

namespace bank {

inline constexpr auto transfer_type =
    transaction<transfer, "transfer">(participant<"source">(accounts, param<&transfer::source>)
#ifdef FIXED
                                          .apply(field<&account::visits> = param<&transfer::small>)
#else
                                          .apply(field<&account::visits> = param<&transfer::amount>)
#endif
                                          .compensate(settle::inverse));

} // namespace bank
