// SPDX-License-Identifier: BSL-1.0
// Settled transactions that are asked again, held against running them.
#pragma once

#include "bench.hpp"

#include <cstdint>
#include <functional>

namespace bench {

/// A round times requests that are new to the log, or the same requests once they are settled.
enum class asked : std::uint8_t { once, again };

/// Times a function, which runs all requests and gives its seconds.
template <typename Run>
double time_of(asked timed, Run const& run) {
    double const seconds = run();
    return timed == asked::once ? seconds : run();
}

/// Adds a row that holds asking again against running, which begins each round in both.
/// Shape:   round(asked) - does the whole work from a fresh start
inline void compare_asking(context& at, std::string const& name, std::size_t operations,
                           std::function<double(asked)> const& round) {
    duel wanted;
    wanted.name = name;
    wanted.operations = static_cast<double>(operations);
    wanted.settle = {"asking again", [round] { return round(asked::again); }};
    wanted.baselines = {{"running them", [round] { return round(asked::once); }}};
    wanted.budget = 1.00;
    wanted.rounds = at.size(7, 3);
    at.compare(wanted);
}

} // namespace bench
