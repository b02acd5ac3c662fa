// SPDX-License-Identifier: BSL-1.0
// A confirm is never undone.
// expect: settle: a participant has 'compensate' and no 'apply'. The effects of 'confirm'
#include "trip.hpp"

namespace bank {

inline constexpr auto trip_type = transaction<trip, "trip">(
    flight, participant<"mail">(mailer)
                .confirm(call(param<&trip::flight>, param<&trip::people>))
#ifndef FIXED
                .compensate(call(param<&trip::flight>, param<&trip::people>))
#endif
);

} // namespace bank
