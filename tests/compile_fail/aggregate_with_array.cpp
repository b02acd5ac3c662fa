// SPDX-License-Identifier: BSL-1.0
// An array is neither a text nor a list.
// expect: settle: an array cannot be a field.
#include "bank.hpp"

namespace bank {

struct thing {
    std::string id;
    std::int64_t value;
#ifdef FIXED
    std::string note;
#else
    char note[8];
#endif
};

} // namespace bank

#include "things_in_use.hpp"
