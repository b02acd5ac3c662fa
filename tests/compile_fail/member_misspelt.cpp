// SPDX-License-Identifier: BSL-1.0
// A name in the description that the struct does not have.
// expect: settle: SETTLE_STRUCT lists a name that is no public member of the struct.
#include "bank.hpp"

namespace bank {

struct thing {
    std::string id;
    std::int64_t value;
};

} // namespace bank

#ifdef FIXED
SETTLE_STRUCT(bank::thing, id, value);
#else
SETTLE_STRUCT(bank::thing, id, valeu);
#endif

#include "things_in_use.hpp"
