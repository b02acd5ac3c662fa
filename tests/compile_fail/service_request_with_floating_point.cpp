// SPDX-License-Identifier: BSL-1.0
// Requests have the field types of records.
// expect: settle: a floating-point field cannot be added to and taken back exactly.
#include "trip.hpp"

namespace bank {

struct payment {
#ifdef FIXED
    std::int64_t amount;
#else
    double amount;
#endif
};
SETTLE_STRUCT(payment, amount);

inline constexpr settle::service<payment, ticket, "office", settle::barrier> office;

inline constexpr auto trip_type = transaction<trip, "trip">(
    participant<"office">(office).apply(call(param<&trip::people>)).compensate(call()));

} // namespace bank
