// SPDX-License-Identifier: BSL-1.0
// The work of a prepared part may refuse after a takeover, when the pivot is called already.
// expect: settle: a call without 'compensate' cannot be combined with a settle::prepared:
#include "trip.hpp"

namespace bank {

inline constexpr auto trip_type = transaction<trip, "trip">(
    participant<"seats">(seats).apply(call(param<&trip::flight>, param<&trip::people>)),
    participant<"flight">(airline)
        .apply(call(param<&trip::flight>, param<&trip::people>))
#ifdef FIXED
        .compensate(call())
#endif
);

} // namespace bank
