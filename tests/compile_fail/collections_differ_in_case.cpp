// SPDX-License-Identifier: BSL-1.0
// Tables are named without regard to case.
// expect: settle: two collections, services or prepared targets of one name differ
#include "bank.hpp"

namespace bank {

#ifdef FIXED
inline constexpr settle::collection<order, "Orders", &order::number> others;
#else
inline constexpr settle::collection<order, "Accounts", &order::number> others;
#endif

inline constexpr auto gift_type = transaction<transfer, "gift">(
    participant<"account">(accounts, param<&transfer::destination>)
        .confirm(field<&account::balance> += param<&transfer::amount>),
    participant<"order">(others, param<&transfer::number>)
        .confirm(field<&order::total> += param<&transfer::amount>));

} // namespace bank
