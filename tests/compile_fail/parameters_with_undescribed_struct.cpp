// SPDX-License-Identifier: BSL-1.0
// A log must know the members of every struct.
// expect: settle: a member is of a class that is no aggregate.
#include "bank.hpp"

namespace bank {

struct thing {
    std::string id;
#ifdef FIXED
    std::vector<line> value;
#else
    std::vector<std::pair<int, int>> value;
#endif
};

} // namespace bank

SETTLE_STRUCT(bank::thing, id, value);

namespace bank {

inline constexpr auto thing_type =
    transaction<thing, "thing">(participant<"destination">(accounts, param<&thing::id>)
                                    .confirm(field<&account::balance> += lit<1>));

} // namespace bank
