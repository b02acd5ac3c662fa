// SPDX-License-Identifier: BSL-1.0
// The members are not known before the closing brace.
// expect: settle: SETTLE_STRUCT precedes the definition of its struct.
#include "bank.hpp"

namespace bank {
struct suit;
#ifdef FIXED
struct suit {
    int hearts;
};
#endif
} // namespace bank

SETTLE_STRUCT(bank::suit, hearts);
