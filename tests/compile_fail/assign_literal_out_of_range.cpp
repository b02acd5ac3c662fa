// SPDX-License-Identifier: BSL-1.0
// A literal that the field cannot hold.
// expect: settle: an assignment between types that lose information.
#include "bank.hpp"

namespace bank {

inline constexpr auto transfer_type = transaction<transfer, "transfer">(
    participant<"source">(accounts, param<&transfer::source>)
#ifdef FIXED
        .apply(field<&account::visits> = lit<2000000000>)
#else
        .apply(field<&account::visits> = lit<3000000000>)
#endif
        .compensate(settle::inverse)
);

} // namespace bank
