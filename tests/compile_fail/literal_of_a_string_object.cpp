// SPDX-License-Identifier: BSL-1.0
// A string object as a literal, which no template takes.
// expect: settle: a settle::lit cannot be a std::string.
#include "bank.hpp"

namespace bank {

inline constexpr auto transfer_type = transaction<transfer, "transfer">(
    participant<"source">(accounts, param<&transfer::source>)
#ifdef FIXED
        .require(field<&account::owner> == settle::lit<"bank">)
#else
        .require(field<&account::owner> == settle::lit<std::string{"bank"}>)
#endif
        .confirm(field<&account::balance> += param<&transfer::amount>));

} // namespace bank
