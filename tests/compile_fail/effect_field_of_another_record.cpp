// SPDX-License-Identifier: BSL-1.0
// An effect on a field that the collection does not have.
// expect: settle: an effect on a field of another record.
#include "bank.hpp"

namespace bank {

inline constexpr auto transfer_type = transaction<transfer, "transfer">(
    participant<"source">(accounts, param<&transfer::source>)
#ifdef FIXED
        .confirm(field<&account::balance> += param<&transfer::amount>)
#else
        .confirm(field<&order::total> += param<&transfer::amount>)
#endif
);

} // namespace bank
