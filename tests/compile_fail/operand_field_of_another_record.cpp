// SPDX-License-Identifier: BSL-1.0
// An effect that reads a field that the collection does not have.
// expect: settle: an effect reads a field of another record.
#include "bank.hpp"

namespace bank {

inline constexpr auto transfer_type = transaction<transfer, "transfer">(
    participant<"source">(accounts, param<&transfer::source>)
#ifdef FIXED
        .confirm(field<&account::balance> += field<&account::reserved>)
#else
        .confirm(field<&account::balance> += field<&order::total>)
#endif
);

} // namespace bank
