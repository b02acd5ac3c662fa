// SPDX-License-Identifier: BSL-1.0
// A record that is not there yet has nothing to read.
// expect: settle: a record that is created has no fields to read yet.
#include "bank.hpp"

namespace bank {

inline constexpr auto transfer_type = transaction<transfer, "transfer">(
    participant<"order">(orders, param<&transfer::number>)
#ifdef FIXED
        .apply(settle::create(field<&order::state> = lit<status::open>,
                              field<&order::total> = param<&transfer::number>))
#else
        .apply(settle::create(field<&order::state> = lit<status::open>,
                              field<&order::total> = field<&order::number>))
#endif
        .compensate(settle::inverse));

} // namespace bank
