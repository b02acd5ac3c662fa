// SPDX-License-Identifier: BSL-1.0
// The inherited members of a struct are no structured bindings.
// expect: settle: a struct has a base class,
#include "bank.hpp"

namespace bank {

struct named {
    std::string id;
};
struct thing : named {
    std::int64_t value;
};

} // namespace bank

#ifdef FIXED
SETTLE_STRUCT(bank::thing, id, value);
#endif

#include "things_in_use.hpp"
