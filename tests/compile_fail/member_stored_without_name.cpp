// SPDX-License-Identifier: BSL-1.0
// A column has a name.
// expect: settle: SETTLE_STRUCT stores a member under a name that a store would have to quote.
#include "bank.hpp"

namespace bank {

struct thing {
    std::string id;
    std::int64_t value;
};

} // namespace bank

#ifdef FIXED
SETTLE_STRUCT(bank::thing, id, (value, "worth"));
#else
SETTLE_STRUCT(bank::thing, id, (value, ""));
#endif

#include "things_in_use.hpp"
