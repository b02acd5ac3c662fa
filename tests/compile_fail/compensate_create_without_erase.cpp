// SPDX-License-Identifier: BSL-1.0
// Only an erase undoes a creation.
// expect: settle: this 'compensate' is not shown to undo its 'apply'.
#include "bank.hpp"

namespace bank {

inline constexpr auto transfer_type = transaction<transfer, "transfer">(
    participant<"order">(orders, param<&transfer::number>)
        .apply(settle::create(field<&order::state> = lit<status::open>,
                              field<&order::total> = param<&transfer::amount>))
#ifdef FIXED
        .compensate(settle::erase)
#else
        .compensate(field<&order::total> = lit<0>)
#endif
);

} // namespace bank
