// SPDX-License-Identifier: BSL-1.0
// A parameter that this transaction does not have.
// expect: settle: a guard uses a parameter of another struct.
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
    transaction<transfer, "transfer">(destination).require(param<&refund::amount> > lit<0>);
#endif

} // namespace bank
