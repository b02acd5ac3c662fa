// SPDX-License-Identifier: BSL-1.0
// A record is read into one that was made empty.
// expect: settle: a struct has no public default constructor,
#include "bank.hpp"

#include <settle/memory.hpp>
#include <settle/running/engine.hpp>

namespace bank {

struct thing {
    std::string id;
#ifdef FIXED
    std::int64_t value;
#else
    std::int64_t value;
    explicit thing(std::int64_t given) : value(given) {}
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
