// SPDX-License-Identifier: BSL-1.0
// A name must stand in every store and every message.
// expect: settle: a participant's name is 1 to 48 letters
#include "bank.hpp"

namespace bank {

inline constexpr auto transfer_type = transaction<transfer, "transfer">(
#ifdef FIXED
    participant<"destination">(accounts, param<&transfer::destination>)
#else
    participant<"the destination">(accounts, param<&transfer::destination>)
#endif
        .confirm(field<&account::balance> += param<&transfer::amount>));

} // namespace bank
