// SPDX-License-Identifier: BSL-1.0
// A participant that is no record needs a store that executes its parts.
// expect: settle: a participant of this engine's types is no record, and no store executes it.
#include "bank.hpp"

#include "../booking_kind.hpp"

#include <settle/memory.hpp>

namespace bank {

inline constexpr booking_test::office<"trains"> trains;

inline constexpr auto gift_type = transaction<transfer, "gift">(
    participant<"destination">(accounts, param<&transfer::destination>)
        .confirm(field<&account::balance> += param<&transfer::amount>),
    booking_test::books<"train", 1>(trains, param<&transfer::source>));

inline auto make(settle::memory::database& bank_at, booking_test::booking_office& trains_at) {
#ifdef FIXED
    return settle::engine{bank_at, settle::bind(trains, trains_at), settle::type<gift_type>};
#else
    static_cast<void>(trains_at);
    return settle::engine{bank_at, settle::type<gift_type>};
#endif
}

} // namespace bank
