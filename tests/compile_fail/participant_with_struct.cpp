// SPDX-License-Identifier: BSL-1.0
// The struct of the records is no collection of them.
// expect: settle: settle::participant takes a collection
#include "bank.hpp"

namespace bank {

extern account const an_account;

inline constexpr auto transfer_type = transaction<transfer, "transfer">(
#ifdef FIXED
    participant<"destination">(accounts, param<&transfer::destination>)
#else
    participant<"destination">(an_account, param<&transfer::destination>)
#endif
        .confirm(field<&account::balance> += param<&transfer::amount>));

} // namespace bank
