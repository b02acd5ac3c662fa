// SPDX-License-Identifier: BSL-1.0
// A prepared participant has an apply.
// expect: settle: a prepared participant has no 'apply'.
#include "trip.hpp"

namespace bank {

inline constexpr auto trip_type =
    transaction<trip, "trip">(participant<"seats">(seats)
#ifdef FIXED
                                  .apply(call(param<&trip::flight>, param<&trip::people>))
#endif
    );

} // namespace bank
