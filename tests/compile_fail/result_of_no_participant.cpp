// SPDX-License-Identifier: BSL-1.0
// A misspelt name.
// expect: settle: a settle::result_from names no participant of its transaction.
#include "trip.hpp"

namespace bank {

inline constexpr auto trip_type = transaction<trip, "trip">(
    flight, participant<"mail">(mailer)
#ifdef FIXED
                .confirm(call(result_from<"flight", &ticket::number>, 1)));
#else
                .confirm(call(result_from<"flght", &ticket::number>, 1)));
#endif

} // namespace bank
