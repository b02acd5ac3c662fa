// SPDX-License-Identifier: BSL-1.0
// A character is neither text nor number.
// expect: settle: a character type cannot be a field.
#include "bank.hpp"

namespace bank {

struct thing {
    std::string id;
#ifdef FIXED
    std::int64_t value;
#else
    char value;
#endif
};

} // namespace bank

SETTLE_STRUCT(bank::thing, id, value);

namespace bank {

inline constexpr auto thing_type =
    transaction<thing, "thing">(participant<"destination">(accounts, param<&thing::id>)
                                    .confirm(field<&account::balance> += lit<1>));

} // namespace bank
