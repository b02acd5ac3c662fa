// SPDX-License-Identifier: BSL-1.0
// A store keeps values, and a reference is not a value.
// expect: settle: SETTLE_STRUCT lists a reference, which no store can keep.
#include "bank.hpp"

namespace bank {

struct thing {
    std::string id;
#ifdef FIXED
    std::int64_t value;
    std::string note;
#else
    std::int64_t value;
    std::string& note;
#endif
};

} // namespace bank

SETTLE_STRUCT(bank::thing, id, value, note);

#include "things_in_use.hpp"
