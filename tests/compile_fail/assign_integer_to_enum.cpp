// SPDX-License-Identifier: BSL-1.0
// An integer need not be an enumerator.
// expect: settle: an assignment between types that lose information.
#include "bank.hpp"

namespace bank {

inline constexpr auto transfer_type =
    transaction<transfer, "transfer">(participant<"source">(accounts, param<&transfer::source>)
#ifdef FIXED
                                          .apply(field<&account::state> = lit<status::closed>)
#else
                                          .apply(field<&account::state> = 1)
#endif
                                          .compensate(settle::inverse));

} // namespace bank
