// SPDX-License-Identifier: BSL-1.0
// A sum is no condition.
// expect: settle: a transaction's 'require' takes a condition on the parameters alone.
#include "bank.hpp"

namespace bank {

inline constexpr auto destination =
    participant<"destination">(accounts, param<&transfer::destination>)
        .confirm(field<&account::balance> += param<&transfer::amount>);

#ifdef FIXED
inline constexpr auto transfer_type =
    transaction<transfer, "transfer">(destination).require(param<&transfer::amount> > lit<0>);
#else
inline constexpr auto transfer_type =
    transaction<transfer, "transfer">(destination).require(param<&transfer::amount>);
#endif

} // namespace bank
