// SPDX-License-Identifier: BSL-1.0
// Text is no enumerator.
// expect: settle: an assignment between types that lose information.
#include "bank.hpp"

namespace bank {

inline constexpr auto transfer_type =
    transaction<transfer, "transfer">(participant<"source">(accounts, param<&transfer::source>)
#ifdef FIXED
                                          .apply(field<&account::state> = param<&transfer::state>)
#else
                                          .apply(field<&account::state> = param<&transfer::note>)
#endif
                                          .compensate(settle::inverse));

} // namespace bank
