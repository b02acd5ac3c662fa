// SPDX-License-Identifier: BSL-1.0
// A line belongs to a range.
// expect: settle: settle::line<...> names a member of the range's elements
#include "trip.hpp"

namespace bank {

inline constexpr auto trip_type = transaction<trip, "trip">(
#ifdef FIXED
    participant<"stay">(airline, each<&trip::stays>)
#else
    participant<"stay">(airline)
#endif
        .apply(call(settle::line<&stay::hotel>, settle::line<&stay::nights>))
        .compensate(call()));

} // namespace bank
