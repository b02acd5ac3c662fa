// SPDX-License-Identifier: BSL-1.0
// A type is known or it is not.
// expect: settle: an engine is given something twice. Bind each collection once,
#include "bank.hpp"

#include <settle/memory.hpp>
#include <settle/running/engine.hpp>

namespace bank {

inline constexpr auto gift_type = transaction<transfer, "gift">(
    participant<"destination">(accounts, param<&transfer::destination>)
        .confirm(field<&account::balance> += param<&transfer::amount>));

inline auto make(settle::memory::database& database) {
#ifdef FIXED
    return settle::engine{database, settle::type<gift_type>};
#else
    return settle::engine{database, settle::type<gift_type>, settle::type<gift_type>};
#endif
}

} // namespace bank
