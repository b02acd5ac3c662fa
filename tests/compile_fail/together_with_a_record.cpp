// SPDX-License-Identifier: BSL-1.0
// Records are applied together without a group.
// expect: settle: settle::together takes participants that are calls of services.
#include "trip.hpp"

namespace bank {

inline constexpr auto traveller = participant<"traveller">(accounts, param<&trip::traveller>)
                                      .confirm(field<&account::balance> += lit<1>);

#ifdef FIXED
inline constexpr auto trip_type = transaction<trip, "trip">(traveller, together(flight));
#else
inline constexpr auto trip_type = transaction<trip, "trip">(together(traveller, flight));
#endif

} // namespace bank
