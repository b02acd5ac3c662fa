// SPDX-License-Identifier: BSL-1.0
// An outcome is not a bool: it may also be undecided.
// expect: settle: an outcome is not true or false
#include "bank.hpp"

#include <settle/memory.hpp>
#include <settle/running/engine.hpp>

namespace bank {

inline constexpr auto gift_type = transaction<transfer, "gift">(
    participant<"destination">(accounts, param<&transfer::destination>)
        .confirm(field<&account::balance> += param<&transfer::amount>));

inline int pay(settle::memory::database& database) {
    settle::engine engine{database, settle::type<gift_type>};
    auto const ended = engine.run(transfer{});
#ifdef FIXED
    if (ended.done()) return 1;
#else
    if (ended) return 1;
#endif
    return 0;
}

} // namespace bank
