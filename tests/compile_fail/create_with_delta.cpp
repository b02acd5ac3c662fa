// SPDX-License-Identifier: BSL-1.0
// A new field has nothing to add to.
// expect: settle: 'create' and 'replace' take assignments
#include "bank.hpp"

namespace bank {

inline constexpr auto transfer_type = transaction<transfer, "transfer">(
    participant<"order">(orders, param<&transfer::number>)
#ifdef FIXED
        .apply(settle::create(field<&order::state> = lit<status::open>,
                              field<&order::total> = param<&transfer::amount>))
#else
        .apply(settle::create(field<&order::state> = lit<status::open>,
                              field<&order::total> += param<&transfer::amount>))
#endif
        .compensate(settle::inverse));

} // namespace bank
