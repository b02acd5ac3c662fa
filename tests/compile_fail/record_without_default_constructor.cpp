// SPDX-License-Identifier: BSL-1.0
// A record is read into an object that was created empty.
// expect: settle: a struct has no public default constructor,
#include "bank.hpp"

namespace bank {

struct thing {
    std::string id;
#ifdef FIXED
    std::int64_t value;
#else
    std::int64_t value;
    explicit thing(std::int64_t given) : value(given) {}
#endif
};

} // namespace bank

SETTLE_STRUCT(bank::thing, id, value);

#include "things_in_use.hpp"
