// SPDX-License-Identifier: BSL-1.0
// A record that is not there yet has nothing to require.
// expect: settle: a record that is created has no fields to read yet. Use guards on the parameters.
#include "bank.hpp"

namespace bank {

inline constexpr auto transfer_type = transaction<transfer, "transfer">(
    participant<"order">(orders, param<&transfer::number>)
#ifdef FIXED
        .require(param<&transfer::amount> > lit<0>)
#else
        .require(field<&order::total> == lit<0>)
#endif
        .apply(settle::create(field<&order::state> = lit<status::open>,
                              field<&order::total> = param<&transfer::amount>))
        .compensate(settle::inverse));

} // namespace bank
