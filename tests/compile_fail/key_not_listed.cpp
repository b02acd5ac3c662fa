// SPDX-License-Identifier: BSL-1.0
// A key that is not described is in no store.
// expect: settle: the key is not among the described members.
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
SETTLE_STRUCT(bank::thing, value);
#endif

namespace bank {

inline constexpr settle::collection<thing, "things", &thing::id> things;

} // namespace bank
