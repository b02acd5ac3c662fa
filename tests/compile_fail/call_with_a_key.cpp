// SPDX-License-Identifier: BSL-1.0
// A call has no key.
// expect: settle: settle::participant takes a service, and for a range settle::each;
#include "trip.hpp"

namespace bank {

inline constexpr auto trip_type = transaction<trip, "trip">(
#ifdef FIXED
    participant<"flight">(airline)
#else
    participant<"flight">(airline, param<&trip::flight>)
#endif
        .apply(call(param<&trip::flight>, param<&trip::people>))
        .compensate(call()));

} // namespace bank
