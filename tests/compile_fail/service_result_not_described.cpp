// SPDX-License-Identifier: BSL-1.0
// The result of a service is a described struct, or there is none.
// expect: settle: the result struct of this service is not described.
#include "trip.hpp"

namespace bank {

struct untold {
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
