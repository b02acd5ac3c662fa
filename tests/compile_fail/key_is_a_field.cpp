// SPDX-License-Identifier: BSL-1.0
// A record is found by the parameters, not by itself.
// expect: settle: the key of a participant is a parameter of the same type
#include "bank.hpp"

namespace bank {

inline constexpr auto transfer_type = transaction<transfer, "transfer">(
#ifdef FIXED
    participant<"destination">(accounts, param<&transfer::destination>)
#else
    participant<"destination">(accounts, field<&account::owner>)
#endif
        .confirm(field<&account::balance> += param<&transfer::amount>));

} // namespace bank
