// SPDX-License-Identifier: BSL-1.0
// A refused pivot must stay refused.
// expect: settle: an 'apply' without 'compensate' needs a receiver that remembers keys,
#include "trip.hpp"

namespace bank {

inline constexpr auto trip_type = transaction<trip, "trip">(
#ifdef FIXED
    participant<"flight">(airline)
#else
    participant<"flight">(keys)
#endif
        .apply(call(param<&trip::flight>, param<&trip::people>)));

} // namespace bank
