// SPDX-License-Identifier: BSL-1.0
// An engine opens the collections of its types.
// expect: settle: no type of this engine uses the collection.
#include "bank.hpp"

#include <settle/memory.hpp>
#include <settle/running/engine.hpp>

namespace bank {

inline constexpr auto gift_type = transaction<transfer, "gift">(
    participant<"destination">(accounts, param<&transfer::destination>)
        .confirm(field<&account::balance> += param<&transfer::amount>));

struct note {
    std::string id;
};
SETTLE_STRUCT(note, id);
inline constexpr settle::collection<note, "notes", &note::id> notes;

inline settle::result<void> open(settle::memory::database& database) {
    settle::engine engine{database, settle::type<gift_type>};
#ifdef FIXED
    return engine.create(accounts, account{});
#else
    return engine.create(notes, note{"1"});
#endif
}

} // namespace bank
