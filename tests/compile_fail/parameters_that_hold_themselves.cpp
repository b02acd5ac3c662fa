// SPDX-License-Identifier: BSL-1.0
// A tree has no fixed depth that a log could store.
// expect: settle: a struct holds itself.
#include "bank.hpp"

namespace bank {

struct tree {
    std::string source;
#ifdef FIXED
    std::vector<line> branches;
#else
    std::vector<tree> branches;
#endif
};

} // namespace bank

SETTLE_STRUCT(bank::tree, source, branches);

namespace bank {

inline constexpr auto tree_type =
    transaction<tree, "tree">(participant<"source">(accounts, param<&tree::source>)
                                  .confirm(field<&account::balance> += lit<1>));

} // namespace bank
