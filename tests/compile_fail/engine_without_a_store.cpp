// SPDX-License-Identifier: BSL-1.0
// A collection without a store.
// expect: settle: a collection is bound to no store.
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
using gifts =
    settle::engine<settle::log_binding<settle::memory::database>, settle::type_tag<gift_type>>;
#endif
constexpr std::size_t size = sizeof(gifts);
static_assert(size > 0);

} // namespace bank
