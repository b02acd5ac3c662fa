// SPDX-License-Identifier: BSL-1.0
// A kind of participant checks the definitions of its participants.
// expect: settle: a booking has a stage from 1: records are applied first
#include "bank.hpp"

#include "../booking_kind.hpp"

namespace bank {

inline constexpr booking_test::office<"trains"> trains;

#ifdef FIXED
inline constexpr std::uint32_t stage = 1;
#else
inline constexpr std::uint32_t stage = 0;
#endif

inline constexpr auto gift_type = transaction<transfer, "gift">(
    participant<"destination">(accounts, param<&transfer::destination>)
        .confirm(field<&account::balance> += param<&transfer::amount>),
    booking_test::books<"train", stage>(trains, param<&transfer::source>));

} // namespace bank
