// SPDX-License-Identifier: BSL-1.0
// A record is read into an object that was created empty.
// expect: settle: a const member cannot be read from a store.
#include "bank.hpp"

namespace bank {

struct thing {
#ifdef FIXED
    std::string id;
#else
    const std::string id;
#endif
};

} // namespace bank

SETTLE_STRUCT(bank::thing, id);

namespace bank {

inline constexpr settle::collection<thing, "things", &thing::id> things;

} // namespace bank
