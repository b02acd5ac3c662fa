// SPDX-License-Identifier: BSL-1.0
// A member that cannot be stored is reported once, whatever uses it.
// expect: settle: a floating-point field cannot be added to and taken back exactly.
#include "bank.hpp"

namespace bank {

struct thing {
    std::string id;
#ifdef FIXED
    std::int64_t value;
#else
    double value;
#endif
};

} // namespace bank

SETTLE_STRUCT(bank::thing, id, value);

#include "things_in_use.hpp"
