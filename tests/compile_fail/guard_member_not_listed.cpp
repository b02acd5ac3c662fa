// SPDX-License-Identifier: BSL-1.0
// A field that is not described is in no store.
// expect: settle: a field that SETTLE_STRUCT does not list is in no store.
#include "bank.hpp"

namespace bank {

struct thing {
    std::string id;
    std::int64_t value;
    std::int64_t count;
};

} // namespace bank

#ifdef FIXED
SETTLE_STRUCT(bank::thing, id, value, count);
#else
SETTLE_STRUCT(bank::thing, id, value);
#endif

namespace bank {

inline constexpr settle::collection<thing, "things", &thing::id> things;

inline constexpr auto transfer_type = transaction<transfer, "transfer">(
    participant<"thing">(things, param<&transfer::note>)
        .require(field<&thing::count> == lit<0>)
        .confirm(field<&thing::value> += param<&transfer::amount>));

} // namespace bank
