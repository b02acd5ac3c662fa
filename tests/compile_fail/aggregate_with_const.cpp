// SPDX-License-Identifier: BSL-1.0
// A member that is read from a store is written.
// expect: settle: a const member cannot be read from a store.
#include "bank.hpp"

namespace bank {

struct thing {
    std::string id;
#ifdef FIXED
    std::int64_t value;
#else
    const std::int64_t value = 0;
#endif
};

} // namespace bank

#include "things_in_use.hpp"
