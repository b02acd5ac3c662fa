// SPDX-License-Identifier: BSL-1.0
// Only a field can be absent.
// expect: settle: a std::optional holds one field, and no struct or list.
#include "bank.hpp"

namespace bank {

struct thing {
    std::string id;
#ifdef FIXED
    std::int64_t value;
    std::vector<int> note;
#else
    std::int64_t value;
    std::optional<std::vector<int>> note;
#endif
};

} // namespace bank

SETTLE_STRUCT(bank::thing, id, value, note);

#include "things_in_use.hpp"
