// SPDX-License-Identifier: BSL-1.0
// A whole new value has a value in every field.
// expect: settle: 'create' and 'replace' assign every field
#include "bank.hpp"

namespace bank {

inline constexpr auto transfer_type = transaction<transfer, "transfer">(
    participant<"order">(orders, param<&transfer::number>)
#ifdef FIXED
        .apply(settle::replace(field<&order::total> = param<&transfer::amount>,
                               field<&order::state> = param<&transfer::state>))
#else
        .apply(settle::replace(field<&order::total> = param<&transfer::amount>))
#endif
        .compensate(settle::inverse));

} // namespace bank
