// SPDX-License-Identifier: BSL-1.0
// Calls side by side know nothing of each other.
// expect: settle: a settle::result_from is used before its stage has answered.
#include "trip.hpp"

namespace bank {

inline constexpr auto card =
    participant<"card">(airline)
        .apply(call(param<&trip::flight>, result_from<"flight", &ticket::price>))
        .compensate(call());

#ifdef FIXED
inline constexpr auto trip_type = transaction<trip, "trip">(flight, card);
#else
inline constexpr auto trip_type = transaction<trip, "trip">(together(flight, card));
#endif

} // namespace bank
