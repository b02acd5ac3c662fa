// SPDX-License-Identifier: BSL-1.0
// An enumerator is no number.
// expect: settle: a comparison between types that lose information.
#include "bank.hpp"

namespace bank {

inline constexpr auto transfer_type = transaction<transfer, "transfer">(
    participant<"source">(accounts, param<&transfer::source>)
#ifdef FIXED
        .require(field<&account::state> == status::open)
#else
        .require(field<&account::state> == 0)
#endif
        .confirm(field<&account::balance> += param<&transfer::amount>));

} // namespace bank
