// SPDX-License-Identifier: BSL-1.0
// The member belongs to the result of the named participant.
// expect: settle: a settle::result_from names a member of another struct than the result
#include "trip.hpp"

namespace bank {

inline constexpr auto trip_type = transaction<trip, "trip">(
    flight, participant<"mail">(mailer)
#ifdef FIXED
                .confirm(call(result_from<"flight", &ticket::number>, 1)));
#else
                .confirm(call(result_from<"flight", &seat::flight>, 1)));
#endif

} // namespace bank
