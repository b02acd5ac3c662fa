// SPDX-License-Identifier: BSL-1.0
// A participant needs a name.
// expect: settle: a participant has no name.
#include "bank.hpp"

namespace bank {

inline constexpr auto transfer_type = transaction<transfer, "transfer">(
#ifdef FIXED
    participant<"destination">(accounts, param<&transfer::destination>)
#else
    participant(accounts, param<&transfer::destination>)
#endif
        .confirm(field<&account::balance> += param<&transfer::amount>));

} // namespace bank
