// SPDX-License-Identifier: BSL-1.0
// The arguments are in the order of the members.
// expect: settle: an argument of a call is of another type than the request's member.
#include "trip.hpp"

namespace bank {

inline constexpr auto trip_type =
    transaction<trip, "trip">(participant<"flight">(airline)
#ifdef FIXED
                                  .apply(call(param<&trip::flight>, param<&trip::people>))
#else
                                  .apply(call(param<&trip::people>, param<&trip::flight>))
#endif
                                  .compensate(call()));

} // namespace bank
