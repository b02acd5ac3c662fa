// SPDX-License-Identifier: BSL-1.0
// The longest pause is no shorter than the first.
// expect: settle: 'pauses' takes the first and the longest pause in milliseconds
#include "trip.hpp"

namespace bank {

#ifdef FIXED
inline constexpr auto trip_type = transaction<trip, "trip">(flight.pauses<10, 100>());
#else
inline constexpr auto trip_type = transaction<trip, "trip">(flight.pauses<100, 10>());
#endif

} // namespace bank
