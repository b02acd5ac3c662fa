// SPDX-License-Identifier: BSL-1.0
// A name must stand in every store.
// expect: settle: a collection's name is 1 to 48 letters
#include "bank.hpp"

namespace bank {

#ifdef FIXED
inline constexpr settle::collection<account, "the_accounts", &account::id> right;
#else
inline constexpr settle::collection<account, "the-accounts", &account::id> wrong;
#endif

} // namespace bank
