// SPDX-License-Identifier: BSL-1.0
// A mark needs a record to live in.
// expect: settle: 'create' takes effect at apply
#include "bank.hpp"

namespace bank {

inline constexpr auto opening = participant<"order">(orders, param<&transfer::number>)
#ifdef FIXED
                                    .apply(settle::create(param<&transfer::whole_order>))
                                    .compensate(settle::inverse)
#else
                                    .confirm(settle::create(param<&transfer::whole_order>))
#endif
    ;
inline constexpr auto transfer_type = transaction<transfer, "transfer">(opening);

} // namespace bank
