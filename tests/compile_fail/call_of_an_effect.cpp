// SPDX-License-Identifier: BSL-1.0
// A service is called; it has no fields to change.
// expect: settle: 'apply', 'confirm' and 'compensate' of a service, and
#include "trip.hpp"

namespace bank {

inline constexpr auto trip_type =
    transaction<trip, "trip">(participant<"flight">(airline)
#ifdef FIXED
                                  .apply(call(param<&trip::flight>, param<&trip::people>))
#else
                                  .apply(param<&trip::flight>, param<&trip::people>)
#endif
                                  .compensate(call()));

} // namespace bank
