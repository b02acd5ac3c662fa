// SPDX-License-Identifier: BSL-1.0
// Each line of a range could refuse when another is done.
// expect: settle: a call has 'apply' and no 'compensate', so it must be the last call
#include "trip.hpp"

namespace bank {

inline constexpr auto trip_type = transaction<trip, "trip">(
    participant<"stay">(airline, each<&trip::stays>)
        .apply(call(settle::line<&stay::hotel>, settle::line<&stay::nights>))
#ifdef FIXED
        .compensate(call())
#endif
);

} // namespace bank
