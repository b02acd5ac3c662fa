// SPDX-License-Identifier: BSL-1.0
// An environment must have a clock.
// expect: settle: an environment needs now(), elapsed(), random() and pause(time, stop),
#include "bank.hpp"

#include <settle/memory.hpp>
#include <settle/running/engine.hpp>

namespace bank {

inline constexpr auto gift_type = transaction<transfer, "gift">(
    participant<"destination">(accounts, param<&transfer::destination>)
        .confirm(field<&account::balance> += param<&transfer::amount>));

inline void run(settle::memory::database& database) {
#ifdef FIXED
    settle::engine engine{database, settle::type<gift_type>,
                          settle::with_environment(settle::system_environment{})};
#else
    settle::engine engine{database, settle::type<gift_type>, settle::with_environment(5)};
#endif
    settle::outcome const outcome = engine.run("t1", transfer{});
    if (outcome.verdict == settle::verdict::done) static_cast<void>(engine.read(accounts, "a"));
}

} // namespace bank
