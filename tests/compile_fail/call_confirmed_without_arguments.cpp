// SPDX-License-Identifier: BSL-1.0
// Without an apply there is no request to send again.
// expect: settle: settle::call() repeats the request of 'apply', and this participant has none.
#include "trip.hpp"

namespace bank {

inline constexpr auto trip_type = transaction<trip, "trip">(
#ifdef FIXED
    flight, participant<"mail">(mailer).confirm(call(param<&trip::flight>, 1)));
#else
    flight, participant<"mail">(mailer).confirm(call()));
#endif

} // namespace bank
