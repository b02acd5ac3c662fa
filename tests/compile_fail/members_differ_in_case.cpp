// SPDX-License-Identifier: BSL-1.0
// Columns of a table are named without regard to case.
// expect: settle: two members differ in upper and lower case only,
#include "bank.hpp"

namespace bank {

struct thing {
    std::string id;
#ifdef FIXED
    std::int64_t value;
    std::int64_t other;
#else
    std::int64_t value;
    std::int64_t Value;
#endif
};

} // namespace bank

#ifdef FIXED
SETTLE_STRUCT(bank::thing, id, value, other);
#else
SETTLE_STRUCT(bank::thing, id, value, Value);
#endif

#include "things_in_use.hpp"
