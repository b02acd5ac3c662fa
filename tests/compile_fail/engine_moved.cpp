// SPDX-License-Identifier: BSL-1.0
// An engine is moved into a container.
// expect: settle: an engine is neither copied nor moved
#include "bank.hpp"

#include <settle/memory.hpp>
#include <settle/running/engine.hpp>

#include <memory>

namespace bank {

inline constexpr auto gift_type = transaction<transfer, "gift">(
    participant<"destination">(accounts, param<&transfer::destination>)
        .confirm(field<&account::balance> += param<&transfer::amount>));

inline auto made(settle::memory::database& database) {
    settle::engine engine{database, settle::type<gift_type>};
    using engine_type = decltype(engine);
#ifdef FIXED
    return std::make_unique<engine_type>(database, settle::type<gift_type>);
#else
    return std::make_unique<engine_type>(std::move(engine));
#endif
}

} // namespace bank
