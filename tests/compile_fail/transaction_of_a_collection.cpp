// SPDX-License-Identifier: BSL-1.0
// A collection is no participant.
// expect: settle: settle::transaction takes participants.
#include "bank.hpp"

namespace bank {

inline constexpr auto destination =
    participant<"destination">(accounts, param<&transfer::destination>)
        .confirm(field<&account::balance> += param<&transfer::amount>);

#ifdef FIXED
inline constexpr auto transfer_type = transaction<transfer, "transfer">(destination);
#else
inline constexpr auto transfer_type = transaction<transfer, "transfer">(accounts);
#endif

} // namespace bank
