// SPDX-License-Identifier: BSL-1.0
// A single struct is not a vector of lines.
// expect: settle: settle::each takes a std::vector member of the parameters.
#include "bank.hpp"

namespace bank {

inline constexpr auto transfer_type = transaction<transfer, "transfer">(
#ifdef FIXED
    participant<"articles">(accounts, each<&transfer::lines>, settle::line<&line::article>)
#else
    participant<"articles">(accounts, each<&transfer::whole_order>, settle::line<&line::article>)
#endif
        .confirm(field<&account::balance> += settle::line<&line::quantity>));

} // namespace bank
