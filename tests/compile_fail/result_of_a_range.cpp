// SPDX-License-Identifier: BSL-1.0
// A range gives many results.
// expect: settle: a settle::result_from names a range of calls
#include "trip.hpp"

namespace bank {

inline constexpr auto stays =
    participant<"stays">(airline, each<&trip::stays>)
        .apply(call(settle::line<&stay::hotel>, settle::line<&stay::nights>))
        .compensate(call());

inline constexpr auto trip_type =
    transaction<trip, "trip">(flight, stays,
                              participant<"mail">(mailer)
#ifdef FIXED
                                  .confirm(call(result_from<"flight", &ticket::number>, 1)));
#else
                                  .confirm(call(result_from<"stays", &ticket::number>, 1)));
#endif

} // namespace bank
