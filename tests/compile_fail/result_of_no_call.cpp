// SPDX-License-Identifier: BSL-1.0
// Only a call of a service with a result has one.
// expect: settle: result_of names no participant of the type that calls a service with a result.
#include "trip.hpp"

#include <settle/running/calls/call_result.hpp>

namespace bank {

inline constexpr auto trip_type = transaction<trip, "trip">(
    flight, participant<"mail">(mailer).confirm(call(param<&trip::flight>, lit<1>)));

inline bool has_ticket(settle::outcome const& from) {
#ifdef FIXED
    return settle::result_of<trip_type, "flight">(from).has_value();
#else
    return settle::result_of<trip_type, "mail">(from).has_value();
#endif
}

} // namespace bank
