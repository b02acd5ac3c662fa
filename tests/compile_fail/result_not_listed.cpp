// SPDX-License-Identifier: BSL-1.0
// Only listed members of a result are kept.
// expect: settle: a member of a result that SETTLE_STRUCT does not list would not be kept
#include "trip.hpp"

namespace bank {

inline constexpr auto trip_type = transaction<trip, "trip">(
    flight, participant<"mail">(mailer)
#ifdef FIXED
                .confirm(call(param<&trip::flight>, result_from<"flight", &ticket::price>)));
#else
                .confirm(call(param<&trip::flight>, result_from<"flight", &ticket::unlisted>)));
#endif

} // namespace bank
