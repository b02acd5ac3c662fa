// SPDX-License-Identifier: BSL-1.0
// The members of an aggregate are read at its first use.
// expect: settle: SETTLE_STRUCT follows a use of its struct,
#include "bank.hpp"

namespace bank {

struct thing {
    std::string id;
    std::int64_t value;
};

} // namespace bank

#ifdef FIXED
SETTLE_STRUCT(bank::thing, id, value);
#endif

namespace bank {
inline constexpr settle::collection<thing, "things", &thing::id> things;
}

#ifndef FIXED
SETTLE_STRUCT(bank::thing, id, value);
#endif
