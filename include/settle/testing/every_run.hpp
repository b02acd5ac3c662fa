// SPDX-License-Identifier: BSL-1.0
// Runs the whole engine (windows, waves, stores) repeatedly. Each run takes a different sequence of
// choices, until every run with at most a given number of mishaps has been made.
//
//   auto const seen = settle::testing::every_run(
//       settle::testing::run_bounds{.mishaps = 2}, [](settle::testing::run_choices& choices) {
//           settle::memory::database db;
//           settle::testing::trial trial{choices, db, settle::type<bank::transfer_type>};
//           trial.open(bank::accounts, {"A", 100, 100}).open(bank::accounts, {"B", 0, 0});
//           trial.conserves(bank::accounts, settle::field<&bank::account::balance>);
//           trial.worker([&](auto& engine) {
//               for (auto const& result : engine.run_all(orders)) trial.note(result);
//           });
//           trial.worker([](auto& engine) { engine.recover(); });
//           return trial.run();
//       });
//   CHECK(seen);
//
// The explorer (settle/testing/explore.hpp) recognizes repeated states, and so covers every
// interleaving of single coordinators. `every_run` covers the code around the coordinators, up to
// the number of mishaps.
#pragma once

#include <settle/testing/every_run/trial.hpp>

#include <chrono>
#include <limits>
#include <ostream>

SETTLE_BEGIN
namespace testing {

struct run_bounds {
    std::size_t mishaps = 1; ///< per run: faulty calls and changes of the running worker
    std::size_t most_runs = std::numeric_limits<std::size_t>::max();
};

/// The result of a search. It converts to true when every run within the bounds was right.
struct runs_seen {
    bool right = true;
    bool complete = true; ///< false when `most_runs` ended the search
    std::size_t runs = 0;
    std::string trace; ///< the first wrong run, a line for each event
    std::string run;   ///< the name of that run, for settle::testing::replay
    double seconds = 0;

    explicit operator bool() const noexcept { return right && complete; }

    friend std::ostream& operator<<(std::ostream& out, runs_seen const& shown) {
        out << shown.runs << " runs, " << shown.seconds << " s";
        if (!shown.complete) out << ", cut short by run_bounds::most_runs";
        if (!shown.trace.empty()) {
            out << '\n'
                << shown.trace << "To see this run again: settle::testing::replay{\"" << shown.run
                << "\"}\n";
        }
        return out;
    }
};

namespace detail {

/// Repeats one run and writes its trace.
template <typename Run>
[[nodiscard]] runs_seen trace_run(replay const& again, Run const& run) {
    runs_seen seen;
    run_choices choices{again};
    std::string const wrong = run(choices);
    seen.right = wrong.empty();
    seen.runs = 1;
    seen.run = again.run;
    seen.trace = choices.trace();
    if (!seen.right) seen.trace += "WRONG: " + wrong + '\n';
    return seen;
}

} // namespace detail

/// Makes every run of `run`. Runs with fewer mishaps come first, so that the first wrong run has
/// the fewest mishaps.
/// Shape:   run - called with the choices of one run; returns the problem, or an empty string. It
///          must be deterministic: equal choices make equal runs
/// Errors:  throws std::logic_error when `run` is not deterministic; when a worker of a trial
///          throws that error, the run is reported as wrong
/// Example: tests/fault/every_batch.cpp
template <typename Run>
[[nodiscard]] runs_seen every_run(run_bounds const& within, Run const& run) {
    auto const started = std::chrono::steady_clock::now();
    runs_seen seen;
    for (std::size_t mishaps = 0; mishaps <= within.mishaps && seen; ++mishaps) {
        run_choices choices{mishaps};
        do {
            if (seen.runs == within.most_runs) {
                seen.complete = false;
                break;
            }
            std::string const wrong = run(choices);
            choices.check_end();
            // A run with fewer mishaps was counted in an earlier round.
            if (choices.spent() == mishaps) ++seen.runs;
            if (wrong.empty()) continue;
            auto const runs = seen.runs;
            seen = detail::trace_run({choices.name()}, run);
            seen.runs = runs;
            if (seen.right) {
                throw std::logic_error("settle: this run cannot be repeated: it was wrong (" +
                                       wrong + "), and right when it was made again");
            }
        } while (seen.right && choices.next());
    }
    seen.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
    return seen;
}

/// Repeats one run and writes its trace.
template <typename Run>
[[nodiscard]] runs_seen every_run(replay const& again, Run const& run) {
    return detail::trace_run(again, run);
}

} // namespace testing
SETTLE_END
