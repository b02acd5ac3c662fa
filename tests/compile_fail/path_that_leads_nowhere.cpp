// SPDX-License-Identifier: BSL-1.0
// A member of another struct than the previous member's.
// expect: settle: settle::param, settle::line and settle::result_from take pointers
#include "bank.hpp"

namespace bank {

inline constexpr auto transfer_type = transaction<transfer, "transfer">(
    participant<"source">(accounts, param<&transfer::source>)
#ifdef FIXED
        .confirm(field<&account::balance> += param<&transfer::whole_order, &order::total>)
#else
        .confirm(field<&account::balance> += param<&transfer::whole_order, &account::balance>)
#endif
);

} // namespace bank
