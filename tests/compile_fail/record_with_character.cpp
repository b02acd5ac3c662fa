// SPDX-License-Identifier: BSL-1.0
// A character is neither text nor number.
// expect: settle: a character type cannot be a field.
#include "bank.hpp"

namespace bank {

struct thing {
    std::string id;
#ifdef FIXED
    std::int64_t value;
#else
    char value;
#endif
};

} // namespace bank

SETTLE_STRUCT(bank::thing, id, value);

namespace bank {

inline constexpr settle::collection<thing, "things", &thing::id> things;

} // namespace bank
