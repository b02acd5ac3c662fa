// SPDX-License-Identifier: BSL-1.0
// A call is sent at least once.
// expect: settle: 'tries' takes the number of times that a call is sent, at least 1.
#include "trip.hpp"

namespace bank {

#ifdef FIXED
inline constexpr auto trip_type = transaction<trip, "trip">(flight.tries<1>());
#else
inline constexpr auto trip_type = transaction<trip, "trip">(flight.tries<0>());
#endif

} // namespace bank
