// SPDX-License-Identifier: BSL-1.0
// A field that is not described is in no store.
// expect: settle: an effect on a member that SETTLE_STRUCT does not list.
#include "bank.hpp"

namespace bank {

struct thing {
    std::string id;
    std::int64_t value;
};

} // namespace bank

#ifdef FIXED
SETTLE_STRUCT(bank::thing, id, value);
#else
SETTLE_STRUCT(bank::thing, id);
#endif

namespace bank {

inline constexpr settle::collection<thing, "things", &thing::id> things;

inline constexpr auto transfer_type = transaction<transfer, "transfer">(
    participant<"thing">(things, param<&transfer::note>)
        .confirm(field<&thing::value> += param<&transfer::amount>));

} // namespace bank
