// SPDX-License-Identifier: BSL-1.0
// A literal that the field cannot hold.
// expect: settle: a settle::lit does not fit into the type of the field
#include "bank.hpp"

namespace bank {

inline constexpr auto transfer_type =
    transaction<transfer, "transfer">(participant<"source">(accounts, param<&transfer::source>)
#ifdef FIXED
                                          .apply(field<&account::visits> = lit<2000000000>)
#else
                                          .apply(field<&account::visits> = lit<3000000000>)
#endif
                                          .compensate(settle::inverse));

} // namespace bank
