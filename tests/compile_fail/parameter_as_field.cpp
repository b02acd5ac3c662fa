// SPDX-License-Identifier: BSL-1.0
// A parameter where a field belongs.
// expect: settle: a guard on a field of another record.
#include "bank.hpp"

namespace bank {

inline constexpr auto transfer_type = transaction<transfer, "transfer">(
    participant<"source">(accounts, param<&transfer::source>)
#ifdef FIXED
        .require(param<&transfer::amount> > lit<0>)
#else
        .require(field<&transfer::amount> > lit<0>)
#endif
        .confirm(field<&account::balance> += param<&transfer::amount>));

} // namespace bank
