// SPDX-License-Identifier: BSL-1.0
// A fraction is not added and taken back exactly.
// expect: settle: a floating-point field cannot be added to and taken back exactly.
#include "bank.hpp"

namespace bank {

struct thing {
    std::string id;
#ifdef FIXED
    std::int64_t value;
#else
    double value;
#endif
};

} // namespace bank

SETTLE_STRUCT(bank::thing, id, value);

namespace bank {

inline constexpr settle::collection<thing, "things", &thing::id> things;

} // namespace bank
