// SPDX-License-Identifier: BSL-1.0
// A store reads and writes a member at its own times.
// expect: settle: a volatile member cannot be kept in a store.
#include "bank.hpp"

namespace bank {

struct thing {
    std::string id;
#ifdef FIXED
    std::int64_t value;
    int note;
#else
    std::int64_t value;
    int volatile note;
#endif
};

} // namespace bank

SETTLE_STRUCT(bank::thing, id, value, note);

#include "things_in_use.hpp"
