// SPDX-License-Identifier: BSL-1.0
// Times of two units.
// expect: settle: an assignment between types that lose information.
#include "bank.hpp"

namespace bank {

inline constexpr auto transfer_type =
    transaction<transfer, "transfer">(participant<"source">(accounts, param<&transfer::source>)
#ifdef FIXED
                                          .apply(field<&account::since> = param<&transfer::at>)
#else
                                          .apply(field<&account::since> =
                                                     param<&transfer::at_minute>)
#endif
                                          .compensate(settle::inverse));

} // namespace bank
