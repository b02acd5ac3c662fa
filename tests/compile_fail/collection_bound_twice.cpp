// SPDX-License-Identifier: BSL-1.0
// One collection lives in one store.
// expect: settle: an engine is given something twice. Bind each collection once,
#include "bank.hpp"

#include <settle/memory.hpp>
#include <settle/running/engine.hpp>

namespace bank {

inline constexpr auto gift_type = transaction<transfer, "gift">(
    participant<"destination">(accounts, param<&transfer::destination>)
        .confirm(field<&account::balance> += param<&transfer::amount>));

inline auto make(settle::memory::database& database, settle::memory::database& other) {
#ifdef FIXED
    static_cast<void>(other);
    return settle::engine{settle::log_in(database), settle::bind(accounts, database),
                          settle::type<gift_type>};
#else
    return settle::engine{settle::log_in(database), settle::bind(accounts, database),
                          settle::bind(accounts, other), settle::type<gift_type>};
#endif
}

} // namespace bank
