// SPDX-License-Identifier: BSL-1.0
// A refusal beside the pivot would leave it done.
// expect: settle: a call has 'apply' and no 'compensate', so it must be the last call
#include "trip.hpp"

namespace bank {

inline constexpr auto card =
    participant<"card">(airline).apply(call(param<&trip::flight>, param<&trip::people>));

#ifdef FIXED
inline constexpr auto trip_type = transaction<trip, "trip">(flight, card);
#else
inline constexpr auto trip_type = transaction<trip, "trip">(together(flight, card));
#endif

} // namespace bank
