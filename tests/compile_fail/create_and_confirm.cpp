// SPDX-License-Identifier: BSL-1.0
// A participant that creates its record does nothing else to it.
// expect: settle: a participant that creates its record does nothing else to it.
#include "bank.hpp"

namespace bank {

inline constexpr auto transfer_type = transaction<transfer, "transfer">(
    participant<"order">(orders, param<&transfer::number>)
        .apply(settle::create(field<&order::state> = lit<status::open>,
                              field<&order::total> = param<&transfer::amount>))
        .compensate(settle::inverse)
#ifdef FIXED
#else
        .confirm(field<&order::total> += param<&transfer::fee>)
#endif
);

} // namespace bank
