// SPDX-License-Identifier: BSL-1.0
// One call at each moment.
// expect: settle: 'apply', 'confirm' or 'compensate' is given twice.
#include "trip.hpp"

namespace bank {

inline constexpr auto trip_type =
    transaction<trip, "trip">(participant<"flight">(airline)
                                  .apply(call(param<&trip::flight>, param<&trip::people>))
#ifdef FIXED
                                  .compensate(call()));
#else
                                  .apply(call(param<&trip::flight>, param<&trip::people>)));
#endif

} // namespace bank
