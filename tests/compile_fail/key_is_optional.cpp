// SPDX-License-Identifier: BSL-1.0
// A record without a key cannot be found.
// expect: settle: a key is never empty.
#include "bank.hpp"

namespace bank {

struct thing {
#ifdef FIXED
    std::string id;
#else
    std::optional<std::string> id;
#endif
};

} // namespace bank

SETTLE_STRUCT(bank::thing, id);

namespace bank {

inline constexpr settle::collection<thing, "things", &thing::id> things;

} // namespace bank
