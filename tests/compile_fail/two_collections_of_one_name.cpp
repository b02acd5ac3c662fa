// SPDX-License-Identifier: BSL-1.0
// One name means one set of records.
// expect: settle: two collections, services or prepared targets of one name differ
#include "bank.hpp"

namespace bank {

#ifdef FIXED
inline constexpr settle::collection<order, "orders", &order::number> others;
#else
inline constexpr settle::collection<order, "accounts", &order::number> others;
#endif
inline constexpr auto transfer_type = transaction<transfer, "transfer">(
    participant<"account">(accounts, param<&transfer::source>)
        .confirm(field<&account::balance> += param<&transfer::amount>),
    participant<"order">(others, param<&transfer::number>)
        .confirm(field<&order::total> += param<&transfer::amount>));

} // namespace bank
