// SPDX-License-Identifier: BSL-1.0
// A kind of participant that is not of the library has no model.
// expect: settle: the models of a type have records, calls and prepared parts, and no participant
// of another kind
#include "bank.hpp"

#include "../booking_kind.hpp"

#include <settle/model.hpp>

namespace bank {

inline constexpr booking_test::office<"trains"> trains;
inline constexpr auto destination =
    participant<"destination">(accounts, param<&transfer::destination>)
        .confirm(field<&account::balance> += param<&transfer::amount>);

#ifdef FIXED
inline constexpr auto gift_type = transaction<transfer, "gift">(destination);
#else
inline constexpr auto gift_type = transaction<transfer, "gift">(
    destination, booking_test::books<"train", 1>(trains, param<&transfer::source>));
#endif

inline std::string model() { return settle::promela(gift_type); }

} // namespace bank
