// SPDX-License-Identifier: BSL-1.0
// Only a struct has members.
// expect: settle: SETTLE_STRUCT describes a struct or a class, and this is neither.
#include "bank.hpp"

namespace bank {
#ifdef FIXED
struct suit {
    int hearts;
};
#else
enum class suit { hearts };
#endif
} // namespace bank

SETTLE_STRUCT(bank::suit, hearts);
