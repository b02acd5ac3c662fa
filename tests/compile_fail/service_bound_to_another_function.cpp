// SPDX-License-Identifier: BSL-1.0
// A service in the same process is a function of its request.
// expect: settle: settle::bind takes a service and its client, which has send(calls, answers),
#include "trip.hpp"

#include <settle/memory.hpp>
#include <settle/running/engine.hpp>

namespace bank {

inline constexpr auto trip_type = transaction<trip, "trip">(flight);

#ifdef FIXED
using asked = seat;
#else
using asked = trip;
#endif

inline settle::reply<ticket> book(asked const&, settle::service_call const&) { return ticket{}; }

inline auto make(settle::memory::database& log) {
    return settle::engine{log, settle::bind(airline, book), settle::type<trip_type>};
}

} // namespace bank
