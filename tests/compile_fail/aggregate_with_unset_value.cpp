// SPDX-License-Identifier: BSL-1.0
// A record is read into an object that was created empty.
// expect: settle: a member of a struct is a reference,
#include "bank.hpp"

namespace bank {

struct amount {
#ifdef FIXED
    amount() = default;
#endif
    explicit amount(int count);
};
struct thing {
    std::string id;
    std::int64_t value;
    amount left = amount{0};
};

} // namespace bank

#ifdef FIXED
SETTLE_STRUCT(bank::thing, id, value);
#endif

#include "things_in_use.hpp"
