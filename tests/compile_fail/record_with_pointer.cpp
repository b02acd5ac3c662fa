// SPDX-License-Identifier: BSL-1.0
// An address means nothing in a store.
// expect: settle: a pointer cannot be a field,
#include "bank.hpp"

namespace bank {

struct thing {
    std::string id;
#ifdef FIXED
    std::int64_t value;
    int note;
#else
    std::int64_t value;
    int* note;
#endif
};

} // namespace bank

SETTLE_STRUCT(bank::thing, id, value, note);

#include "things_in_use.hpp"
