// SPDX-License-Identifier: BSL-1.0
// A compensation may be sent before the apply has answered.
// expect: settle: a settle::result_from is used before its stage has answered.
#include "trip.hpp"

namespace bank {

inline constexpr auto trip_type =
    transaction<trip, "trip">(participant<"flight">(airline)
                                  .apply(call(param<&trip::flight>, param<&trip::people>))
#ifdef FIXED
                                  .compensate(call())
                                  .confirm(call(result_from<"flight", &ticket::number>, 1)));
#else
                                  .compensate(call(result_from<"flight", &ticket::number>, 1)));
#endif

} // namespace bank
