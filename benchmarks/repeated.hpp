// SPDX-License-Identifier: BSL-1.0
// Compares a repeated run of settled transactions with their first run.
#pragma once

#include "bench.hpp"

#include <cstdint>
#include <functional>

namespace bench {

/// The run of a round that is timed: the first run of its requests, or their repetition after the
/// first run has settled all.
enum class timed_run : std::uint8_t { first, repeated };

/// Runs the requests once or twice, and returns the seconds of the timed run.
/// Shape:   run() - runs all requests and returns its seconds
template <typename Run>
double time_of(timed_run timed, Run const& run) {
    double const seconds = run();
    return timed == timed_run::first ? seconds : run();
}

/// Adds a row that compares the repeated run with the first run.
/// Shape:   round(timed_run) - does the whole work from an empty store
inline void compare_repeated(context& context, std::string const& name, std::size_t operations,
                             std::function<double(timed_run)> const& round) {
    comparison compared;
    compared.name = name;
    compared.operations = static_cast<double>(operations);
    compared.settle = {"repeated run", [round] { return round(timed_run::repeated); }};
    compared.baselines = {{"first run", [round] { return round(timed_run::first); }}};
    compared.budget = 1.00;
    compared.rounds = context.size(7, 3);
    context.compare(compared);
}

} // namespace bench
