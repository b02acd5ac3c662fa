// SPDX-License-Identifier: BSL-1.0
// An engine without a transaction type.
// expect: settle: an engine needs a transaction type.
#include "bank.hpp"

#include <settle/memory.hpp>
#include <settle/running/engine.hpp>

namespace bank {

inline constexpr auto gift_type = transaction<transfer, "gift">(
    participant<"destination">(accounts, param<&transfer::destination>)
        .confirm(field<&account::balance> += param<&transfer::amount>));

#ifdef FIXED
using gifts = settle::engine<settle::memory::database, settle::type_tag<gift_type>>;
#else
using gifts = settle::engine<settle::memory::database>;
#endif
constexpr std::size_t size = sizeof(gifts);
static_assert(size > 0);

/// Calls of a refused engine are no further errors.
inline std::size_t look_after(gifts& engine) {
    for (settle::entry const& one : engine.stuck().value()) std::ignore = engine.retry(one.id);
    std::ignore = engine.resolve("t", "destination", "by hand");
    return engine.statistics().stuck;
}

} // namespace bank
