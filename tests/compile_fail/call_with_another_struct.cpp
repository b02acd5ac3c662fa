// SPDX-License-Identifier: BSL-1.0
// A call uses the transaction's own parameters.
// expect: settle: a participant uses a parameter of another struct.
#include "trip.hpp"

namespace bank {

inline constexpr auto trip_type =
    transaction<trip, "trip">(participant<"flight">(airline)
#ifdef FIXED
                                  .apply(call(param<&trip::flight>, param<&trip::people>))
#else
                                  .apply(call(param<&transfer::note>, param<&trip::people>))
#endif
                                  .compensate(call()));

} // namespace bank
