// SPDX-License-Identifier: BSL-1.0
// A line where there is no range.
// expect: settle: settle::line<...> names a member of the range's elements
#include "bank.hpp"

namespace bank {

inline constexpr auto transfer_type = transaction<transfer, "transfer">(
    participant<"source">(accounts, param<&transfer::source>)
#ifdef FIXED
        .confirm(field<&account::balance> += param<&transfer::amount>)
#else
        .confirm(field<&account::balance> += settle::line<&line::quantity>)
#endif
);

} // namespace bank
