// SPDX-License-Identifier: BSL-1.0
// A key has the type of the member that the collection names.
// expect: settle: 'at' takes a collection and a key of its type.
#include "bank.hpp"

#include <settle/memory.hpp>
#include <settle/running/engine.hpp>

namespace bank {

inline constexpr auto gift_type = transaction<transfer, "gift">(
    participant<"destination">(accounts, param<&transfer::destination>)
        .confirm(field<&account::balance> += param<&transfer::amount>));

inline std::int64_t balance(settle::memory::database& database) {
    settle::engine engine{database, settle::type<gift_type>};
#ifdef FIXED
    return engine.at(accounts, "17").balance;
#else
    return engine.at(accounts, 17).balance;
#endif
}

} // namespace bank
