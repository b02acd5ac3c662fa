// SPDX-License-Identifier: BSL-1.0
// One argument for each member of the request.
// expect: settle: a call has one argument for each member of its request struct.
#include "trip.hpp"

namespace bank {

inline constexpr auto trip_type =
    transaction<trip, "trip">(participant<"flight">(airline)
#ifdef FIXED
                                  .apply(call(param<&trip::flight>, param<&trip::people>))
#else
                                  .apply(call(param<&trip::flight>))
#endif
                                  .compensate(call()));

} // namespace bank
