// SPDX-License-Identifier: BSL-1.0
// A value read from a store must be owned.
// expect: settle: a std::string_view cannot be a field,
#include "bank.hpp"

namespace bank {

struct thing {
    std::string id;
#ifdef FIXED
    std::int64_t value;
    std::string note;
#else
    std::int64_t value;
    std::string_view note;
#endif
};

} // namespace bank

SETTLE_STRUCT(bank::thing, id, value, note);

#include "things_in_use.hpp"
