// SPDX-License-Identifier: BSL-1.0
// Records are changed before the first call.
// expect: settle: records are changed before any call is made, so a settle::result_from
#include "trip.hpp"

namespace bank {

inline constexpr auto trip_type = transaction<trip, "trip">(
    flight, participant<"traveller">(accounts, param<&trip::traveller>)
#ifdef FIXED
                .confirm(field<&account::balance> += param<&trip::people>));
#else
                .confirm(field<&account::balance> += result_from<"flight", &ticket::price>));
#endif

} // namespace bank
