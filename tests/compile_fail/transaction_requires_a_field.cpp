// SPDX-License-Identifier: BSL-1.0
// A guard on a record belongs to its participant.
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
    transaction<transfer, "transfer">(destination).require(field<&account::balance> > lit<0>);
#endif

} // namespace bank
