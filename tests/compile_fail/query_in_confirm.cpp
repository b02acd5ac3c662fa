// SPDX-License-Identifier: BSL-1.0
// A query is for its result.
// expect: settle: a query has no effect, so only 'apply' of a service takes it.
#include "trip.hpp"

namespace bank {

inline constexpr auto trip_type = transaction<trip, "trip">(
#ifdef FIXED
    flight.confirm(call(param<&trip::flight>, param<&trip::people>)));
#else
    flight.confirm(query(param<&trip::flight>, param<&trip::people>)));
#endif

} // namespace bank
