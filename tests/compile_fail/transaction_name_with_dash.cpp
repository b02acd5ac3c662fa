// SPDX-License-Identifier: BSL-1.0
// A name must stand in every store and every message.
// expect: settle: a transaction's name is 1 to 48 letters
#include "bank.hpp"

namespace bank {

inline constexpr auto destination =
    participant<"destination">(accounts, param<&transfer::destination>)
        .confirm(field<&account::balance> += param<&transfer::amount>);

#ifdef FIXED
inline constexpr auto transfer_type = transaction<transfer, "bank_transfer">(destination);
#else
inline constexpr auto transfer_type = transaction<transfer, "bank-transfer">(destination);
#endif

} // namespace bank
