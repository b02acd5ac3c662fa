// SPDX-License-Identifier: BSL-1.0
// Nothing may fail after the commit.
// expect: settle: a sum of a result could overflow in 'confirm' or 'compensate',
#include "trip.hpp"

namespace bank {

inline constexpr auto trip_type = transaction<trip, "trip">(
    flight, participant<"mail">(mailer)
#ifdef FIXED
                .confirm(call(param<&trip::flight>, result_from<"flight", &ticket::price>)));
#else
                .confirm(call(param<&trip::flight>, result_from<"flight", &ticket::price> + 1)));
#endif

} // namespace bank
