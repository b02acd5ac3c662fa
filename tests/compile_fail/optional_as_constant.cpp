// SPDX-License-Identifier: BSL-1.0
// An optional for a plain value.
// expect: settle: a constant is never a std::optional.
#include "bank.hpp"

namespace bank {

inline constexpr auto transfer_type = transaction<transfer, "transfer">(
    participant<"source">(accounts, param<&transfer::source>)
#ifdef FIXED
        .require(field<&account::limit> != 5)
#else
        .require(field<&account::limit> != std::optional<std::int64_t>{5})
#endif
        .confirm(field<&account::balance> += param<&transfer::amount>));

} // namespace bank
