// SPDX-License-Identifier: BSL-1.0
// A line where there is no range.
// expect: settle: settle::line<...> names a member of the range's elements
#include "bank.hpp"

namespace bank {

inline constexpr auto transfer_type = transaction<transfer, "transfer">(
#ifdef FIXED
    participant<"articles">(accounts, each<&transfer::lines>, settle::line<&line::article>)
#else
    participant<"articles">(accounts, settle::line<&line::article>)
#endif
        .confirm(field<&account::balance> += param<&transfer::amount>));

} // namespace bank
