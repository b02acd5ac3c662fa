// SPDX-License-Identifier: BSL-1.0
// A receiver that keeps no refusals may apply after a compensation.
// expect: settle: 'apply' with 'compensate' needs a receiver that remembers keys and refusals.
#include "trip.hpp"

namespace bank {

inline constexpr auto trip_type = transaction<trip, "trip">(
#ifdef FIXED
    participant<"flight">(airline)
#else
    participant<"flight">(keys)
#endif
        .apply(call(param<&trip::flight>, param<&trip::people>))
        .compensate(call()));

} // namespace bank
