// SPDX-License-Identifier: BSL-1.0
// Two assignments to one field in one moment.
// expect: settle: one moment assigns a field and changes it again.
#include "bank.hpp"

namespace bank {

inline constexpr auto transfer_type =
    transaction<transfer, "transfer">(participant<"source">(accounts, param<&transfer::source>)
#ifdef FIXED
                                          .apply(field<&account::state> = lit<status::closed>)
#else
                                          .apply(field<&account::state> = lit<status::open>,
                                                 field<&account::state> = lit<status::closed>)
#endif
                                          .compensate(settle::inverse));

} // namespace bank
