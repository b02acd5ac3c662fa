// SPDX-License-Identifier: BSL-1.0
// A record keeps its key.
// expect: settle: an effect on the key field.
#include "bank.hpp"

namespace bank {

inline constexpr auto transfer_type =
    transaction<transfer, "transfer">(participant<"source">(accounts, param<&transfer::source>)
#ifdef FIXED
                                          .apply(field<&account::owner> = param<&transfer::note>)
#else
                                          .apply(field<&account::id> = param<&transfer::note>)
#endif
                                          .compensate(settle::inverse));

} // namespace bank
