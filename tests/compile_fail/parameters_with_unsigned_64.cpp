// SPDX-License-Identifier: BSL-1.0
// 2^63 and above is not kept by every log.
// expect: settle: an unsigned 64-bit field cannot be kept exactly by every store.
#include "bank.hpp"

namespace bank {

struct thing {
    std::string id;
#ifdef FIXED
    std::int64_t value;
#else
    std::uint64_t value;
#endif
};

} // namespace bank

SETTLE_STRUCT(bank::thing, id, value);

namespace bank {

inline constexpr auto thing_type =
    transaction<thing, "thing">(participant<"destination">(accounts, param<&thing::id>)
                                    .confirm(field<&account::balance> += lit<1>));

} // namespace bank
