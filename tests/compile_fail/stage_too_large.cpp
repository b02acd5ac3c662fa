// SPDX-License-Identifier: BSL-1.0
// The number of a stage has 8 bits, and one value is left for the number of stages.
// expect: settle: the stage of a participant is at most 254.
#include "bank.hpp"

#include "../booking_kind.hpp"

namespace bank {

inline constexpr booking_test::office<"trains"> trains;

#ifdef FIXED
inline constexpr std::uint32_t stage = 254;
#else
inline constexpr std::uint32_t stage = 255;
#endif

inline constexpr auto gift_type = transaction<transfer, "gift">(
    participant<"destination">(accounts, param<&transfer::destination>)
        .confirm(field<&account::balance> += param<&transfer::amount>),
    booking_test::books<"train", stage>(trains, param<&transfer::source>));

} // namespace bank
