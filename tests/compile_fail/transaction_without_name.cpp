// SPDX-License-Identifier: BSL-1.0
// A transaction type needs a name.
// expect: settle: settle::transaction takes the parameter struct, then the name.
#include "bank.hpp"

namespace bank {

inline constexpr auto destination =
    participant<"destination">(accounts, param<&transfer::destination>)
        .confirm(field<&account::balance> += param<&transfer::amount>);

#ifdef FIXED
inline constexpr auto transfer_type = transaction<transfer, "transfer">(destination);
#else
inline constexpr auto transfer_type = transaction<transfer>(destination);
#endif

} // namespace bank
