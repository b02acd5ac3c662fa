// SPDX-License-Identifier: BSL-1.0
// A parameter that is not described is not kept in the log.
// expect: settle: a parameter that SETTLE_STRUCT does not list
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
SETTLE_STRUCT(bank::thing, id);
#endif

namespace bank {

inline constexpr auto thing_type =
    transaction<thing, "thing">(participant<"destination">(accounts, param<&thing::id>)
                                    .confirm(field<&account::balance> += param<&thing::value>));

} // namespace bank
