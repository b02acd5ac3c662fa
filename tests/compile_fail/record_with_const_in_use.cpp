// SPDX-License-Identifier: BSL-1.0
// A member that cannot be written is named once, whatever names it.
// expect: settle: a const member cannot be read from a store.
#include "bank.hpp"

#include <settle/memory.hpp>
#include <settle/running/engine.hpp>

namespace bank {

struct thing {
    std::string id;
#ifdef FIXED
    std::int64_t value = 0;
#else
    const std::int64_t value = 0;
#endif
};

} // namespace bank

SETTLE_STRUCT(bank::thing, id, value);

namespace bank {

inline constexpr settle::collection<thing, "things", &thing::id> things;

inline constexpr auto gift_type = transaction<transfer, "gift">(
    participant<"thing">(things, param<&transfer::destination>)
        .confirm(field<&thing::value> += param<&transfer::amount>));

inline void run(settle::memory::database& database) {
    settle::engine engine{database, settle::type<gift_type>};
    settle::outcome const told = engine.run(transfer{});
    if (told.verdict == settle::verdict::done) static_cast<void>(engine.read(things, "a"));
}

} // namespace bank
