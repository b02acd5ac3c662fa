// SPDX-License-Identifier: BSL-1.0
// The result of a call that is made later.
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
inline constexpr auto trip_type = transaction<trip, "trip">(card, flight);
#endif

} // namespace bank
