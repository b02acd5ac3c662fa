// SPDX-License-Identifier: BSL-1.0
// A prepared participant gives no result.
// expect: settle: a settle::result_from names a participant that gives no result.
#include "trip.hpp"

namespace bank {

inline constexpr auto trip_type = transaction<trip, "trip">(
    participant<"seats">(seats).apply(call(param<&trip::flight>, param<&trip::people>)), flight,
    participant<"mail">(mailer)
#ifdef FIXED
        .confirm(call(result_from<"flight", &ticket::number>, param<&trip::people>)));
#else
        .confirm(call(result_from<"seats", &ticket::number>, param<&trip::people>)));
#endif

} // namespace bank
