// SPDX-License-Identifier: BSL-1.0
// Every run of a program in which a few things go wrong: the engine itself, with its windows, its
// waves and its stores, is run again and again, and each time one of the ways is taken that it was
// not yet.
//
//   auto const seen = settle::testing::every_run(
//       settle::testing::run_bounds{.mishaps = 2}, [](settle::testing::run_choices& way) {
//           settle::memory::database db;
//           settle::testing::trial trial{way, db, settle::type<bank::transfer_type>};
//           trial.open(bank::accounts, {"A", 100, 100}).open(bank::accounts, {"B", 0, 0});
//           trial.conserves(bank::accounts, settle::field<&bank::account::balance>);
//           trial.worker([&](auto& engine) {
//               for (auto const& told : engine.run_all(orders)) trial.note(told);
//           });
//           trial.worker([](auto& engine) { engine.recover(); });
//           return trial.run();
//       });
//   CHECK(seen);
//
// The explorer (settle/testing/explore.hpp) knows states again and so finds every interleaving of
// single coordinators; this one searches what is around them, as far as its mishaps go.
#pragma once

#include <settle/testing/every_run/trial.hpp>

#include <chrono>
#include <limits>
#include <ostream>

SETTLE_BEGIN
namespace testing {

struct run_bounds {
    std::size_t mishaps = 1; ///< in a run: calls that go wrong, and turns that change
    std::size_t most_runs = std::numeric_limits<std::size_t>::max();
};

/// What was seen. It converts to true when every run within the bounds was right.
struct runs_seen {
    bool right = true;
    bool complete = true; ///< false when `most_runs` cut it short
    std::size_t runs = 0;
    std::string story;    ///< of the first run that was wrong, a line for each thing that happened
    std::string run;      ///< its name, for settle::testing::replay
    double seconds = 0;

    explicit operator bool() const noexcept { return right && complete; }

    friend std::ostream& operator<<(std::ostream& out, runs_seen const& shown) {
        out << shown.runs << " runs, " << shown.seconds << " s";
        if (!shown.complete) out << ", cut short by run_bounds::most_runs";
        if (!shown.story.empty()) {
            out << '\n' << shown.story << "To see this run again: settle::testing::replay{\""
                << shown.run << "\"}\n";
        }
        return out;
    }
};

namespace detail {

/// Performs one run again and tells it.
template <typename Run>
[[nodiscard]] runs_seen tell_run(replay const& again, Run const& run) {
    runs_seen seen;
    run_choices way{again};
    std::string const wrong = run(way);
    seen.right = wrong.empty();
    seen.runs = 1;
    seen.run = again.run;
    seen.story = way.story();
    if (!seen.right) seen.story += "WRONG: " + wrong + '\n';
    return seen;
}

} // namespace detail

/// Takes every way that `run` can go. Few mishaps come first, so that the first run that is wrong
/// has the fewest.
/// Shape:   run - called with the choices of one run, gives what was wrong or nothing. The same
///          choices must make the same run
/// Errors:  throws std::logic_error when a run does not come again; where a worker of a trial meets
///          that, the run is wrong and says so
/// Example: tests/fault/every_batch.cpp
template <typename Run>
[[nodiscard]] runs_seen every_run(run_bounds const& within, Run const& run) {
    auto const started = std::chrono::steady_clock::now();
    runs_seen seen;
    for (std::size_t mishaps = 0; mishaps <= within.mishaps && seen; ++mishaps) {
        run_choices way{mishaps};
        do {
            if (seen.runs == within.most_runs) {
                seen.complete = false;
                break;
            }
            bool const right = run(way).empty();
            // With fewer mishaps it was seen before.
            if (way.spent() == mishaps) ++seen.runs;
            if (right) continue;
            auto const runs = seen.runs;
            seen = detail::tell_run({way.name()}, run);
            seen.runs = runs;
        } while (seen.right && way.next());
    }
    seen.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
    return seen;
}

/// One run again, told.
template <typename Run>
[[nodiscard]] runs_seen every_run(replay const& again, Run const& run) {
    return detail::tell_run(again, run);
}

} // namespace testing
SETTLE_END
