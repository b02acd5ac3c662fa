// SPDX-License-Identifier: BSL-1.0
// A member that the elements of this range do not have.
// expect: settle: settle::line<...> names a member of the range's elements
#include "bank.hpp"

namespace bank {

inline constexpr auto transfer_type = transaction<transfer, "transfer">(
#ifdef FIXED
    participant<"articles">(accounts, each<&transfer::lines>, settle::line<&line::article>)
#else
    participant<"articles">(accounts, each<&transfer::lines>, settle::line<&refund::account>)
#endif
        .confirm(field<&account::balance> += param<&transfer::amount>));

} // namespace bank
