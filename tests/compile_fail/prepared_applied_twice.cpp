// SPDX-License-Identifier: BSL-1.0
// A prepared participant has one request.
// expect: settle: 'apply', 'confirm' or 'compensate' is given twice.
#include "trip.hpp"

namespace bank {

inline constexpr auto trip_type =
    transaction<trip, "trip">(participant<"seats">(seats)
                                  .apply(call(param<&trip::flight>, param<&trip::people>))
#ifndef FIXED
                                  .apply(call(param<&trip::flight>, param<&trip::people>))
#endif
    );

} // namespace bank
