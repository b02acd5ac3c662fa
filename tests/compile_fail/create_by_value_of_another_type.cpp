// SPDX-License-Identifier: BSL-1.0
// A new record is made from a value of its own type.
// expect: settle: the value given to 'create' or 'replace' is not of the collection's record type.
#include "bank.hpp"

namespace bank {

inline constexpr auto transfer_type =
    transaction<transfer, "transfer">(participant<"order">(orders, param<&transfer::number>)
#ifdef FIXED
                                          .apply(settle::create(param<&transfer::whole_order>))
#else
                                          .apply(settle::create(param<&transfer::note>))
#endif
                                          .compensate(settle::inverse));

} // namespace bank
