// SPDX-License-Identifier: BSL-1.0
// A column holds one member.
// expect: settle: SETTLE_STRUCT stores two members under one name,
#include "bank.hpp"

namespace bank {

struct thing {
    std::string id;
    std::int64_t value;
    std::int64_t other;
};

} // namespace bank

#ifdef FIXED
SETTLE_STRUCT(bank::thing, id, value, (other, "worth"));
#else
SETTLE_STRUCT(bank::thing, id, value, (other, "Value"));
#endif

#include "things_in_use.hpp"
