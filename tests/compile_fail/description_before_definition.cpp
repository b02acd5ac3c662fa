// SPDX-License-Identifier: BSL-1.0
// The members are not known before the closing brace.
// expect: settle: SETTLE_STRUCT stands before the definition of its struct.
#include "bank.hpp"

struct suit;
#ifdef FIXED
struct suit { int hearts; };
SETTLE_STRUCT(suit, hearts);
#else
SETTLE_STRUCT(suit, hearts);
#endif
