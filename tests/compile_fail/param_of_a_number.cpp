// SPDX-License-Identifier: BSL-1.0
// A value for a member pointer.
// expect: settle: settle::param, settle::line and settle::result_from take pointers
#include "bank.hpp"

namespace bank {

inline constexpr auto transfer_type =
    transaction<transfer, "transfer">(participant<"source">(accounts, param<&transfer::source>)
#ifdef FIXED
                                          .confirm(field<&account::balance> += lit<100>)
#else
                                          .confirm(field<&account::balance> += param<100>)
#endif
    );

} // namespace bank
