// SPDX-License-Identifier: BSL-1.0
// A key must distinguish many records.
// expect: settle: a key is one field, a std::string or an integer.
#include "bank.hpp"

namespace bank {

#ifdef FIXED
inline constexpr settle::collection<account, "accounts", &account::id> right;
#else
inline constexpr settle::collection<account, "accounts", &account::frozen> wrong;
#endif

} // namespace bank
