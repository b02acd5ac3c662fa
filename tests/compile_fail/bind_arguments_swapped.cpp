// SPDX-License-Identifier: BSL-1.0
// The collection is the first argument, its database the second.
// expect: settle: settle::bind takes the collection or service first, then its database
#include "bank.hpp"

#include <settle/memory.hpp>
#include <settle/running/engine.hpp>

namespace bank {

inline constexpr auto gift_type = transaction<transfer, "gift">(
    participant<"destination">(accounts, param<&transfer::destination>)
        .confirm(field<&account::balance> += param<&transfer::amount>));

inline auto make(settle::memory::database& database) {
#ifdef FIXED
    return settle::engine{settle::log_in(database), settle::bind(accounts, database),
                          settle::type<gift_type>};
#else
    return settle::engine{settle::log_in(database), settle::bind(database, accounts),
                          settle::type<gift_type>};
#endif
}

} // namespace bank
