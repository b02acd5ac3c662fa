// SPDX-License-Identifier: BSL-1.0
// The image of a record is a copy.
// expect: settle: a struct cannot be copied.
#include "bank.hpp"

namespace bank {

struct thing {
    std::string id;
#ifdef FIXED
    std::int64_t value;
#else
    std::int64_t value;
    thing() = default;
    thing(thing&&) = default;
#endif
};

} // namespace bank

SETTLE_STRUCT(bank::thing, id, value);

#include "things_in_use.hpp"
