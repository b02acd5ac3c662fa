// SPDX-License-Identifier: BSL-1.0
// A query has no effect.
// expect: settle: a query has no effect, so there is nothing to compensate.
#include "trip.hpp"

namespace bank {

inline constexpr auto trip_type =
    transaction<trip, "trip">(participant<"price">(airline)
#ifdef FIXED
                                  .apply(call(param<&trip::flight>, param<&trip::people>))
#else
                                  .apply(query(param<&trip::flight>, param<&trip::people>))
#endif
                                  .compensate(call()));

} // namespace bank
