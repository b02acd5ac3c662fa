// SPDX-License-Identifier: BSL-1.0
// A prepared participant takes effect.
// expect: settle: a query has no effect, so only 'apply' of a service takes it.
#include "trip.hpp"

namespace bank {

inline constexpr auto trip_type = transaction<trip, "trip">(
#ifdef FIXED
    participant<"seats">(seats).apply(call(param<&trip::flight>, param<&trip::people>)));
#else
    participant<"seats">(seats).apply(query(param<&trip::flight>, param<&trip::people>)));
#endif

} // namespace bank
