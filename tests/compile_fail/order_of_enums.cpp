// SPDX-License-Identifier: BSL-1.0
// Enumerators have no order that every store keeps.
// expect: settle: booleans, enums and optional values have no order here.
#include "bank.hpp"

namespace bank {

inline constexpr auto transfer_type = transaction<transfer, "transfer">(
    participant<"source">(accounts, param<&transfer::source>)
#ifdef FIXED
        .require(field<&account::state> != status::closed)
#else
        .require(field<&account::state> < status::closed)
#endif
        .confirm(field<&account::balance> += param<&transfer::amount>));

} // namespace bank
