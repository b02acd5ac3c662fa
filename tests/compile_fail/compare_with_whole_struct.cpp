// SPDX-License-Identifier: BSL-1.0
// A whole struct is no value of a field.
// expect: settle: a struct or a list is not compared.
#include "bank.hpp"

namespace bank {

inline constexpr auto transfer_type = transaction<transfer, "transfer">(
    participant<"source">(accounts, param<&transfer::source>)
#ifdef FIXED
        .require(field<&account::balance> == param<&transfer::whole_order, &order::total>)
#else
        .require(field<&account::balance> == param<&transfer::whole_order>)
#endif
        .confirm(field<&account::balance> += param<&transfer::amount>));

} // namespace bank
