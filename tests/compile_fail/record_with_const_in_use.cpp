// SPDX-License-Identifier: BSL-1.0
// A member that cannot be written is reported once, whatever uses it.
// expect: settle: a const member cannot be read from a store.
#include "bank.hpp"

namespace bank {

struct thing {
    std::string id;
#ifdef FIXED
    std::int64_t value = 0;
#else
    const std::int64_t value = 0;
#endif
};

} // namespace bank

SETTLE_STRUCT(bank::thing, id, value);

#include "things_in_use.hpp"
