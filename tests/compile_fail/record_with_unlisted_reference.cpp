// SPDX-License-Identifier: BSL-1.0
// A reference makes a record that cannot be made empty.
// expect: settle: a struct has no public default constructor,
#include "bank.hpp"

namespace bank {

struct thing {
    std::string id;
#ifdef FIXED
    std::int64_t value;
#else
    std::int64_t value;
    std::string& note;
#endif
};

} // namespace bank

SETTLE_STRUCT(bank::thing, id, value);

#include "things_in_use.hpp"
