// SPDX-License-Identifier: BSL-1.0
// A member pointer without settle::param.
// expect: settle: a pointer to a member has no value here.
#include "bank.hpp"

namespace bank {

inline constexpr auto transfer_type = transaction<transfer, "transfer">(
#ifdef FIXED
    participant<"destination">(accounts, param<&transfer::destination>)
#else
    participant<"destination">(accounts, &transfer::destination)
#endif
        .confirm(field<&account::balance> += param<&transfer::amount>));

} // namespace bank
