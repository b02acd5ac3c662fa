// SPDX-License-Identifier: BSL-1.0
// A parameter that this transaction does not have.
// expect: settle: a participant uses a parameter of another struct.
#include "bank.hpp"

namespace bank {

inline constexpr auto transfer_type = transaction<transfer, "transfer">(
#ifdef FIXED
    participant<"destination">(accounts, param<&transfer::destination>)
#else
    participant<"destination">(accounts, param<&refund::account>)
#endif
        .confirm(field<&account::balance> += param<&transfer::amount>));

} // namespace bank
