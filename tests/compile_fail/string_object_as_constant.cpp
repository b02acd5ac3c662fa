// SPDX-License-Identifier: BSL-1.0
// A string object, whose text the definition could outlive.
// expect: settle: a std::string constant does not live as long as the definition.
#include "bank.hpp"

namespace bank {

extern std::string const owner_of_all;

inline constexpr auto transfer_type = transaction<transfer, "transfer">(
    participant<"source">(accounts, param<&transfer::source>)
#ifdef FIXED
        .require(field<&account::owner> == "bank")
#else
        .require(field<&account::owner> == owner_of_all)
#endif
        .confirm(field<&account::balance> += param<&transfer::amount>));

} // namespace bank
