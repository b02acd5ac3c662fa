// SPDX-License-Identifier: BSL-1.0
// A sum has 64 bits.
// expect: settle: an assignment of an integer to a field of a narrower type.
#include "bank.hpp"

namespace bank {

inline constexpr auto transfer_type =
    transaction<transfer, "transfer">(participant<"source">(accounts, param<&transfer::source>)
#ifdef FIXED
                                          .apply(field<&account::visits> = param<&transfer::small>)
#else
                                          .apply(field<&account::visits> =
                                                     param<&transfer::small> + lit<1>)
#endif
                                          .compensate(settle::inverse));

} // namespace bank
