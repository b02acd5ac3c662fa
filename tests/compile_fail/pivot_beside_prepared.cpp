// SPDX-License-Identifier: BSL-1.0
// The work of a prepared part may refuse after a takeover, when the pivot is called already.
// expect: settle: after a takeover the work of a settle::prepared runs again and may refuse
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
