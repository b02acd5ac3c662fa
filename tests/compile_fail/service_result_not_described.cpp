// SPDX-License-Identifier: BSL-1.0
// The result of a service has members that are known, or there is no result.
// expect: settle: the result struct of this service is no aggregate.
#include "trip.hpp"

namespace bank {

struct untold {
    untold() = default; // so it is no aggregate
    std::string text;
};

#ifdef FIXED
inline constexpr settle::service<seat, settle::nothing, "office", settle::barrier> office;
#else
inline constexpr settle::service<seat, untold, "office", settle::barrier> office;
#endif

inline constexpr auto trip_type =
    transaction<trip, "trip">(participant<"office">(office)
                                  .apply(call(param<&trip::flight>, param<&trip::people>))
                                  .compensate(call()));

} // namespace bank
