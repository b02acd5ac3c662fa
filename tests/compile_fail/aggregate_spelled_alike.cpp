// SPDX-License-Identifier: BSL-1.0
// A compiler that does not spell the members of a struct gives all of them one name.
// expect: settle: this compiler does not spell the names of a struct's members. Add SETTLE_STRUCT
#define __PRETTY_FUNCTION__ "spelled_member" // as such a compiler does
#include "bank.hpp"

namespace bank {

struct thing {
    std::string id;
    std::int64_t value;
};

} // namespace bank

#ifdef FIXED
SETTLE_STRUCT(bank::thing, id, value);
#endif

#include "things_in_use.hpp"
