// SPDX-License-Identifier: BSL-1.0
// A transaction involves something.
// expect: settle: a transaction has no participant.
#include "bank.hpp"

namespace bank {

inline constexpr auto destination =
    participant<"destination">(accounts, param<&transfer::destination>)
        .confirm(field<&account::balance> += param<&transfer::amount>);

#ifdef FIXED
inline constexpr auto transfer_type = transaction<transfer, "transfer">(destination);
#else
inline constexpr auto transfer_type = transaction<transfer, "transfer">();
#endif

} // namespace bank
