// SPDX-License-Identifier: BSL-1.0
// A bit-field has no address to write to.
// expect: settle: SETTLE_STRUCT lists a bit-field, which has no address.
#include "bank.hpp"

namespace bank {

struct thing {
    std::string id;
#ifdef FIXED
    std::int64_t value;
    int note;
#else
    std::int64_t value;
    int note : 3;
#endif
};

} // namespace bank

SETTLE_STRUCT(bank::thing, id, value, note);

#include "things_in_use.hpp"
