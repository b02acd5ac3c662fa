// SPDX-License-Identifier: BSL-1.0
// The result of a refused call is of the type that the caller expects.
// expect: settle: 'create' takes a collection and a record of its type.
#include "bank.hpp"

#include <settle/memory.hpp>
#include <settle/running/engine.hpp>

namespace bank {

inline constexpr auto gift_type = transaction<transfer, "gift">(
    participant<"destination">(accounts, param<&transfer::destination>)
        .confirm(field<&account::balance> += param<&transfer::amount>));

inline void open(settle::memory::database& database) {
    settle::engine engine{database, settle::type<gift_type>};
#ifdef FIXED
    std::ignore = engine.create(accounts, account{});
#else
    std::ignore = engine.create(accounts, transfer{});
#endif
}

} // namespace bank
