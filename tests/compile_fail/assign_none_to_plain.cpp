// SPDX-License-Identifier: BSL-1.0
// A plain field always has a value.
// expect: settle: an assignment between types that lose information.
#include "bank.hpp"

namespace bank {

inline constexpr auto transfer_type =
    transaction<transfer, "transfer">(participant<"source">(accounts, param<&transfer::source>)
#ifdef FIXED
                                          .apply(field<&account::limit> = std::nullopt)
#else
                                          .apply(field<&account::balance> = std::nullopt)
#endif
                                          .compensate(settle::inverse));

} // namespace bank
