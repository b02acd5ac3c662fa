// SPDX-License-Identifier: BSL-1.0
// A fraction is not kept exactly.
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

namespace bank {

inline constexpr auto thing_type =
    transaction<thing, "thing">(participant<"destination">(accounts, param<&thing::id>)
                                    .confirm(field<&account::balance> += lit<1>));

} // namespace bank
