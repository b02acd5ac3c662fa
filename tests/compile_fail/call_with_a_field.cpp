// SPDX-License-Identifier: BSL-1.0
// A call has no record.
// expect: settle: a call has no record, so a settle::field has no value in it.
#include "trip.hpp"

namespace bank {

inline constexpr auto trip_type =
    transaction<trip, "trip">(participant<"flight">(airline)
#ifdef FIXED
                                  .apply(call(param<&trip::flight>, param<&trip::people>))
#else
                                  .apply(call(param<&trip::flight>, field<&account::balance>))
#endif
                                  .compensate(call()));

} // namespace bank
