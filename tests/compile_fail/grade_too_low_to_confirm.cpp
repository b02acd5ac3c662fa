// SPDX-License-Identifier: BSL-1.0
// A confirm may be sent twice.
// expect: settle: 'confirm' may be sent twice, so it needs a receiver that remembers keys.
#include "trip.hpp"

namespace bank {

inline constexpr auto trip_type = transaction<trip, "trip">(
#ifdef FIXED
    participant<"mail">(keys)
#else
    participant<"mail">(prices)
#endif
        .confirm(call(param<&trip::flight>, param<&trip::people>)));

} // namespace bank
