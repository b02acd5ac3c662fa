// SPDX-License-Identifier: BSL-1.0
// The members of a request are known.
// expect: settle: the request struct of this service is no aggregate.
#include "trip.hpp"

namespace bank {

struct untold {
    untold() = default; // so it is no aggregate
    std::string text;
};
#ifdef FIXED
SETTLE_STRUCT(untold, text);
#endif

inline constexpr settle::service<untold, ticket, "office", settle::barrier> office;

inline constexpr auto trip_type = transaction<trip, "trip">(
    participant<"office">(office).apply(call(param<&trip::flight>)).compensate(call()));

} // namespace bank
