// SPDX-License-Identifier: BSL-1.0
// Uses a record bank::thing in every way that gives errors of its own: as a collection, in a type,
// by an engine. The record's fault must stay the only error.
#pragma once

#include "bank.hpp"

#include <settle/memory.hpp>
#include <settle/running/engine.hpp>

namespace bank {

inline constexpr settle::collection<thing, "things", &thing::id> things;

inline constexpr auto gift_type =
    transaction<transfer, "gift">(participant<"thing">(things, param<&transfer::destination>)
                                      .confirm(field<&thing::value> += param<&transfer::amount>));

inline void run(settle::memory::database& database) {
    settle::engine engine{database, settle::type<gift_type>};
    settle::outcome const outcome = engine.run(transfer{});
    if (outcome.verdict == settle::verdict::done) static_cast<void>(engine.read(things, "a"));
}

} // namespace bank
