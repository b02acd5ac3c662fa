// SPDX-License-Identifier: BSL-1.0
// A computed value is not stored.
// expect: settle: SETTLE_STRUCT lists a function or a static member.
#include "bank.hpp"

namespace bank {

struct thing {
    std::string id;
#ifdef FIXED
    std::int64_t value;
    int note;
#else
    std::int64_t value;
    int note() const { return 0; }
#endif
};

} // namespace bank

SETTLE_STRUCT(bank::thing, id, value, note);

#include "things_in_use.hpp"
