// SPDX-License-Identifier: BSL-1.0
// A secret is found by the pointer to its member, which only SETTLE_STRUCT gives.
// expect: settle: a struct with a settle::secret or settle::decimal_places needs its members listed
#include "bank.hpp"

namespace bank {

struct thing {
    std::string id;
    std::int64_t value;
};

} // namespace bank

#ifdef FIXED
SETTLE_STRUCT(bank::thing, id, value);
#endif

template <>
inline constexpr bool settle::secret<&bank::thing::value> = true;
