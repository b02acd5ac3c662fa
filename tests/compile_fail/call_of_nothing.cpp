// SPDX-License-Identifier: BSL-1.0
// A participant of a service makes a call.
// expect: settle: a participant makes no call.
#include "trip.hpp"

namespace bank {

inline constexpr auto trip_type =
    transaction<trip, "trip">(flight, participant<"mail">(mailer)
#ifdef FIXED
                                          .confirm(call(param<&trip::flight>, param<&trip::people>))
#endif
    );

} // namespace bank
