// SPDX-License-Identifier: BSL-1.0
// A field where a parameter belongs.
// expect: settle: a participant uses a parameter of another struct.
#include "bank.hpp"

namespace bank {

inline constexpr auto transfer_type = transaction<transfer, "transfer">(
    participant<"source">(accounts, param<&transfer::source>)
#ifdef FIXED
        .confirm(field<&account::balance> += field<&account::reserved>)
#else
        .confirm(field<&account::balance> += param<&account::reserved>)
#endif
);

} // namespace bank
