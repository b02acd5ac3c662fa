// SPDX-License-Identifier: BSL-1.0
// An argument loses no information.
// expect: settle: an argument of a call is a wider integer than the request's member.
#include "trip.hpp"

namespace bank {

inline constexpr settle::service<small_seat, ticket, "office", settle::barrier> office;

inline constexpr auto trip_type =
    transaction<trip, "trip">(participant<"flight">(office)
#ifdef FIXED
                                  .apply(call(param<&trip::flight>, settle::lit<2>))
#else
                                  .apply(call(param<&trip::flight>, param<&trip::people>))
#endif
                                  .compensate(call()));

} // namespace bank
