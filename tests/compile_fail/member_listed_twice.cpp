// SPDX-License-Identifier: BSL-1.0
// A member has one column.
// expect: settle: a member is described twice.
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
SETTLE_STRUCT(bank::thing, id, value, value);
#endif

#include "things_in_use.hpp"
