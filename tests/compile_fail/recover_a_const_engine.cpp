// SPDX-License-Identifier: BSL-1.0
// A recovery changes the state of its engine.
// expect: settle: this engine is const
#include "bank.hpp"

#include <settle/memory.hpp>
#include <settle/running/engine.hpp>

namespace bank {

inline constexpr auto gift_type = transaction<transfer, "gift">(
    participant<"destination">(accounts, param<&transfer::destination>)
        .confirm(field<&account::balance> += param<&transfer::amount>));

inline std::size_t recover(settle::memory::database& database) {
#ifdef FIXED
    settle::engine engine{database, settle::type<gift_type>};
#else
    settle::engine const engine{database, settle::type<gift_type>};
#endif
    return engine.recover().done;
}

} // namespace bank
