// SPDX-License-Identifier: BSL-1.0
// A store must know the members of a record.
// expect: settle: the record struct of this collection is no aggregate.
#include "bank.hpp"

namespace bank {

struct thing {
    thing() = default; // so it is no aggregate
    std::string id;
    std::int64_t value;
};

} // namespace bank

#ifdef FIXED
SETTLE_STRUCT(bank::thing, id, value);
#endif

namespace bank {

inline constexpr settle::collection<thing, "things", &thing::id> things;

inline constexpr auto transfer_type = transaction<transfer, "transfer">(
    participant<"thing">(things, param<&transfer::note>)
        .confirm(field<&thing::value> += param<&transfer::amount>));

} // namespace bank
