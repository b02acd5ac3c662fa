// SPDX-License-Identifier: BSL-1.0
// A store writes the members, so they are public.
// expect: settle: SETTLE_STRUCT lists a name that is no public member of the struct.
#include "bank.hpp"

namespace bank {

struct thing {
    std::string id;
#ifdef FIXED
    std::int64_t value;
    std::string note;
#else
    std::int64_t value;

private:
    std::string note;
#endif
};

} // namespace bank

SETTLE_STRUCT(bank::thing, id, value, note);

#include "things_in_use.hpp"
