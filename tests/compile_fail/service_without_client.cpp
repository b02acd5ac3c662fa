// SPDX-License-Identifier: BSL-1.0
// An engine needs the client of each service.
// expect: settle: a participant of this engine's types is no record, and no store executes it.
#include "trip.hpp"

#include <settle/memory.hpp>
#include <settle/running/engine.hpp>

namespace bank {

inline constexpr auto trip_type = transaction<trip, "trip">(flight);

inline auto make(settle::memory::database& log) {
    return settle::engine{log,
#ifdef FIXED
                          settle::bind(airline,
                                       [](seat const&, settle::service_call const&) {
                                           return settle::reply<ticket>{ticket{}};
                                       }),
#endif
                          settle::type<trip_type>};
}

} // namespace bank
