// SPDX-License-Identifier: BSL-1.0
// A prepared participant has an apply alone.
// expect: settle: a prepared participant has an 'apply' alone
#include "trip.hpp"

namespace bank {

inline constexpr auto trip_type =
    transaction<trip, "trip">(participant<"seats">(seats)
                                  .apply(call(param<&trip::flight>, param<&trip::people>))
#ifndef FIXED
                                  .compensate(call(param<&trip::flight>, param<&trip::people>))
#endif
    );

} // namespace bank
