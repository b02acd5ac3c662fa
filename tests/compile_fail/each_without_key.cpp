// SPDX-License-Identifier: BSL-1.0
// A range needs the key of each record.
// expect: settle: settle::participant takes a collection, then for a range settle::each
#include "bank.hpp"

namespace bank {

inline constexpr auto transfer_type = transaction<transfer, "transfer">(
#ifdef FIXED
    participant<"articles">(accounts, each<&transfer::lines>, settle::line<&line::article>)
#else
    participant<"articles">(accounts, each<&transfer::lines>)
#endif
        .confirm(field<&account::balance> += settle::line<&line::quantity>));

} // namespace bank
