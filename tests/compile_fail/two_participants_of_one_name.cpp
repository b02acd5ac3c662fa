// SPDX-License-Identifier: BSL-1.0
// A name in a report must identify its participant.
// expect: settle: two participants have one name.
#include "bank.hpp"

namespace bank {

inline constexpr auto transfer_type = transaction<transfer, "transfer">(
    participant<"source">(accounts, param<&transfer::source>),
#ifdef FIXED
    participant<"destination">(accounts, param<&transfer::destination>)
#else
    participant<"source">(accounts, param<&transfer::destination>)
#endif
        .confirm(field<&account::balance> += param<&transfer::amount>));

} // namespace bank
