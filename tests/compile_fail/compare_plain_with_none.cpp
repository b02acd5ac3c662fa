// SPDX-License-Identifier: BSL-1.0
// A field that cannot be empty is never none.
// expect: settle: a comparison between types that lose information.
#include "bank.hpp"

namespace bank {

inline constexpr auto transfer_type = transaction<transfer, "transfer">(
    participant<"source">(accounts, param<&transfer::source>)
#ifdef FIXED
        .require(field<&account::limit> != std::nullopt)
#else
        .require(field<&account::balance> != std::nullopt)
#endif
        .confirm(field<&account::balance> += param<&transfer::amount>));

} // namespace bank
