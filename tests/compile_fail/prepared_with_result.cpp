// SPDX-License-Identifier: BSL-1.0
// A database prepares before any call is made.
// expect: settle: a database prepares before any call is made
#include "trip.hpp"

namespace bank {

inline constexpr auto trip_type = transaction<trip, "trip">(
    flight,
#ifdef FIXED
    participant<"seats">(seats).apply(call(param<&trip::flight>, param<&trip::people>)));
#else
    participant<"seats">(seats).apply(
        call(result_from<"flight", &ticket::number>, param<&trip::people>)));
#endif

} // namespace bank
