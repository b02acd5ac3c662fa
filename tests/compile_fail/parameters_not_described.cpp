// SPDX-License-Identifier: BSL-1.0
// A log must know the members of the parameters.
// expect: settle: the parameter struct of this transaction is no aggregate.
#include "bank.hpp"

namespace bank {

struct thing {
    thing() = default; // so it is no aggregate
    std::string id;
    std::int64_t value;
};

} // namespace bank

#ifdef FIXED
SETTLE_STRUCT(bank::thing, id, value);
#endif

namespace bank {

inline constexpr auto thing_type =
    transaction<thing, "thing">(participant<"destination">(accounts, param<&thing::id>)
                                    .confirm(field<&account::balance> += param<&thing::value>));

} // namespace bank
