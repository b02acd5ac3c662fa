// SPDX-License-Identifier: BSL-1.0
// A record has no result.
// expect: settle: a settle::result_from names a participant that gives no result.
#include "trip.hpp"

namespace bank {

inline constexpr auto trip_type =
    transaction<trip, "trip">(participant<"traveller">(accounts, param<&trip::traveller>)
                                  .confirm(field<&account::balance> += lit<1>),
                              flight,
                              participant<"mail">(mailer)
#ifdef FIXED
                                  .confirm(call(result_from<"flight", &ticket::number>, 1)));
#else
                                  .confirm(call(result_from<"traveller", &ticket::number>, 1)));
#endif

} // namespace bank
