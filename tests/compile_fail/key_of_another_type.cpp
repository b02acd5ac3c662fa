// SPDX-License-Identifier: BSL-1.0
// Text for a key that is a number, or the other way round.
// expect: settle: the key of a participant is a parameter of the same type
#include "bank.hpp"

namespace bank {

inline constexpr auto transfer_type = transaction<transfer, "transfer">(
#ifdef FIXED
    participant<"destination">(accounts, param<&transfer::destination>)
#else
    participant<"destination">(accounts, param<&transfer::number>)
#endif
        .confirm(field<&account::balance> += param<&transfer::amount>));

} // namespace bank
