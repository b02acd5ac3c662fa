// SPDX-License-Identifier: BSL-1.0
// A record keeps values that every store can keep.
// expect: settle: a member is of a class that is no aggregate.
#include "bank.hpp"

#include <map>

namespace bank {

struct thing {
    std::string id;
#ifdef FIXED
    std::int64_t value;
#else
    std::map<std::string, std::int64_t> value;
#endif
};

} // namespace bank

SETTLE_STRUCT(bank::thing, id, value);

namespace bank {

inline constexpr settle::collection<thing, "things", &thing::id> things;

} // namespace bank
