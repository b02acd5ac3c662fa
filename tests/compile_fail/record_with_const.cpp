// SPDX-License-Identifier: BSL-1.0
// A member that cannot be changed cannot be read from a store.
// expect: settle: a const member cannot be read from a store.
#include "bank.hpp"

namespace bank {

struct thing {
    std::string id;
#ifdef FIXED
    std::int64_t value;
#else
    const std::int64_t value;
#endif
};

} // namespace bank

SETTLE_STRUCT(bank::thing, id, value);

namespace bank {

inline constexpr settle::collection<thing, "things", &thing::id> things;

} // namespace bank
