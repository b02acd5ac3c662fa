// SPDX-License-Identifier: BSL-1.0
// The members of a request are known.
// expect: settle: the request struct of this settle::prepared is no aggregate.
#include "trip.hpp"

namespace bank {

struct hidden {
    hidden() = default; // so it is no aggregate
    std::string flight;
    std::int64_t people;
};

} // namespace bank

#ifdef FIXED
SETTLE_STRUCT(bank::hidden, flight, people);
#endif

namespace bank {

inline constexpr settle::prepared<hidden, "hidden"> rooms;
inline constexpr auto trip_type = transaction<trip, "trip">(
    participant<"rooms">(rooms).apply(call(param<&trip::flight>, param<&trip::people>)));

} // namespace bank
