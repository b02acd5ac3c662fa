// SPDX-License-Identifier: BSL-1.0
// A member shared by all records is stored with no record.
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
    static int note;
#endif
};

} // namespace bank

SETTLE_STRUCT(bank::thing, id, value, note);

#include "things_in_use.hpp"
