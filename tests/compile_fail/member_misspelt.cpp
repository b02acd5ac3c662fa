// SPDX-License-Identifier: BSL-1.0
// A name in the description is none of the struct.
// expect: settle: SETTLE_STRUCT lists a name that is no public member of the struct.
#include "bank.hpp"

#include <settle/memory.hpp>
#include <settle/running/engine.hpp>

namespace bank {

struct thing {
    std::string id;
    std::int64_t value;
};

} // namespace bank

#ifdef FIXED
SETTLE_STRUCT(bank::thing, id, value);
#else
SETTLE_STRUCT(bank::thing, id, valeu);
#endif

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
