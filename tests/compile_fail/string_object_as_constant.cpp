// SPDX-License-Identifier: BSL-1.0
// A string that is gone before it is compared.
// expect: settle: a std::string constant does not live as long as the definition.
#include "bank.hpp"

namespace bank {

inline constexpr auto transfer_type = transaction<transfer, "transfer">(
    participant<"source">(accounts, param<&transfer::source>)
#ifdef FIXED
        .require(field<&account::owner> == "bank")
#else
        .require(field<&account::owner> == std::string("bank"))
#endif
        .confirm(field<&account::balance> += param<&transfer::amount>)
);

} // namespace bank
