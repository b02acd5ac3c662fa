// SPDX-License-Identifier: BSL-1.0
// A name means one service.
// expect: settle: two collections, services or prepared targets of one name differ
#include "trip.hpp"

namespace bank {

#ifdef FIXED
inline constexpr settle::service<seat, settle::nothing, "office", settle::barrier> office;
#else
inline constexpr settle::service<seat, settle::nothing, "airline", settle::barrier> office;
#endif

inline constexpr auto trip_type = transaction<trip, "trip">(
    flight, participant<"mail">(office).confirm(call(param<&trip::flight>, 1)));

} // namespace bank
