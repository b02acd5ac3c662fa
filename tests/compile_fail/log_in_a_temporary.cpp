// SPDX-License-Identifier: BSL-1.0
// An engine refers to its log for as long as it lives.
// expect: settle: settle::log_in and settle::bind are given a database that is a temporary.
#include "bank.hpp"

#include <settle/memory.hpp>
#include <settle/running/engine.hpp>

namespace bank {

inline constexpr auto gift_type = transaction<transfer, "gift">(
    participant<"destination">(accounts, param<&transfer::destination>)
        .confirm(field<&account::balance> += param<&transfer::amount>));

inline void run(settle::memory::database& database) {
#ifdef FIXED
    settle::engine engine{settle::log_in(database), settle::bind(accounts, database),
                          settle::type<gift_type>};
#else
    settle::engine engine{settle::log_in(settle::memory::database{}),
                          settle::bind(accounts, database), settle::type<gift_type>};
#endif
    settle::outcome const outcome = engine.run("t1", transfer{});
    if (outcome.verdict == settle::verdict::done) static_cast<void>(engine.read(accounts, "a"));
}

} // namespace bank
