// SPDX-License-Identifier: BSL-1.0
// A prepared participant has no key.
// expect: settle: settle::participant takes a settle::prepared, and for a range settle::each; it
// has no key.
#include "trip.hpp"

namespace bank {

inline constexpr auto trip_type = transaction<trip, "trip">(
#ifdef FIXED
    participant<"seats">(seats)
#else
    participant<"seats">(seats, param<&trip::flight>)
#endif
        .apply(call(param<&trip::flight>, param<&trip::people>)));

} // namespace bank
