// SPDX-License-Identifier: BSL-1.0
// A key that is a field of other records.
// expect: settle: the key is a field of another record.
#include "bank.hpp"

namespace bank {

#ifdef FIXED
inline constexpr settle::collection<account, "accounts", &account::id> right;
#else
inline constexpr settle::collection<account, "accounts", &order::number> wrong;
#endif

} // namespace bank
