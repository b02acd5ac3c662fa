// SPDX-License-Identifier: BSL-1.0
// An array is neither a text nor a list.
// expect: settle: an array cannot be a field.
#include "bank.hpp"

namespace bank {

struct thing {
    std::string id;
#ifdef FIXED
    std::int64_t value;
    std::string note;
#else
    std::int64_t value;
    char note[8];
#endif
};

} // namespace bank

SETTLE_STRUCT(bank::thing, id, value, note);

#include "things_in_use.hpp"
