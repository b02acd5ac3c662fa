// SPDX-License-Identifier: BSL-1.0
// A store keeps values, and a reference is not a value.
// expect: settle: a member of a struct is a reference,
#include "bank.hpp"

namespace bank {

struct thing {
    std::string id;
    std::int64_t value;
#ifdef FIXED
    std::string note;
#else
    std::string& note;
#endif
};

} // namespace bank

#include "things_in_use.hpp"
