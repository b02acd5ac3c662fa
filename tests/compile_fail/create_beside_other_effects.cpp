// SPDX-License-Identifier: BSL-1.0
// A creation stands alone.
// expect: settle: this is no effect. Write field += x
#include "bank.hpp"

namespace bank {

inline constexpr auto transfer_type = transaction<transfer, "transfer">(
    participant<"order">(orders, param<&transfer::number>)
#ifdef FIXED
        .apply(settle::create(field<&order::state> = lit<status::open>,
                              field<&order::total> = param<&transfer::amount>))
#else
        .apply(settle::create(field<&order::state> = lit<status::open>,
                              field<&order::total> = param<&transfer::amount>),
               field<&order::total> += lit<1>)
#endif
        .compensate(settle::inverse));

} // namespace bank
