// SPDX-License-Identifier: BSL-1.0
// A value that may be empty does not fit into a field that may not.
// expect: settle: an assignment between types that lose information.
#include "bank.hpp"

namespace bank {

inline constexpr auto transfer_type =
    transaction<transfer, "transfer">(participant<"source">(accounts, param<&transfer::source>)
#ifdef FIXED
                                          .apply(field<&account::limit> = param<&transfer::limit>)
#else
                                          .apply(field<&account::balance> = param<&transfer::limit>)
#endif
                                          .compensate(settle::inverse));

} // namespace bank
