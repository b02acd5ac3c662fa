// SPDX-License-Identifier: BSL-1.0
// A record that holds itself has no end.
// expect: settle: a struct holds itself.
#include "bank.hpp"

namespace bank {

struct leaf {
    std::string name;
};
struct branch {
    std::string id;
#ifdef FIXED
    std::vector<leaf> inside;
#else
    std::vector<branch> inside;
#endif
};

} // namespace bank

SETTLE_STRUCT(bank::leaf, name);
SETTLE_STRUCT(bank::branch, id, inside);

namespace bank {

inline constexpr settle::collection<branch, "branches", &branch::id> branches;

} // namespace bank
