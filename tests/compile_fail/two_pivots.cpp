// SPDX-License-Identifier: BSL-1.0
// Two calls that cannot be undone are not all or nothing.
// expect: settle: a call has 'apply' and no 'compensate', so it must be the last call
#include "trip.hpp"

namespace bank {

inline constexpr auto card =
    participant<"card">(airline).apply(call(param<&trip::flight>, param<&trip::people>));

inline constexpr auto trip_type =
    transaction<trip, "trip">(participant<"first">(airline)
                                  .apply(call(param<&trip::flight>, param<&trip::people>))
#ifdef FIXED
                                  .compensate(call())
#endif
                                  ,
                              card);

} // namespace bank
