// SPDX-License-Identifier: BSL-1.0
// A client gets the name of the service.
// expect: settle: a service's name is 1 to 48 letters, digits and '_'
#include "trip.hpp"

namespace bank {

#ifdef FIXED
inline constexpr settle::service<seat, ticket, "air_line", settle::barrier> office;
#else
inline constexpr settle::service<seat, ticket, "air line", settle::barrier> office;
#endif

inline constexpr auto trip_type =
    transaction<trip, "trip">(participant<"office">(office)
                                  .apply(call(param<&trip::flight>, param<&trip::people>))
                                  .compensate(call()));

} // namespace bank
