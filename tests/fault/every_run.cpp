// SPDX-License-Identifier: BSL-1.0
// The search of whole runs itself: it takes every path once, reports problems, and replays a path.
#include <settle/memory.hpp>
#include <settle/testing/every_run.hpp>
#include <settle/testing/store_suite/types.hpp>

#include <doctest/doctest.h>

#include <set>
#include <sstream>

namespace {

using namespace settle::testing;

/// A run of three forks. The middle fork is not a fault.
std::string forks(run_choices& choices, std::set<std::string>& seen) {
    std::string taken = std::to_string(choices.mishap(3));
    taken += std::to_string(choices.turn(2));
    taken += std::to_string(choices.mishap(2));
    choices.note([&] { return "took " + taken; });
    seen.insert(taken);
    return taken == "211" ? "two and one" : "";
}

/// Makes money out of nothing.
std::string grants(run_choices& choices) {
    settle::memory::database db;
    trial trial{choices, db, settle::type<adjust_type>};
    trial.open(ledgers, {"A", 100, 0, ""}).conserves(ledgers, settle::field<&ledger::balance>);
    trial.worker([&](auto& engine) {
        trial.note(engine.run("t", adjust{"A", 0, 5, 0, 0, no_least, no_most}));
    });
    return trial.run();
}

} // namespace

TEST_CASE("every run: each allowed path is taken, in the order of the number of faults") {
    std::set<std::string> seen;
    auto const none =
        every_run(run_bounds{0}, [&](run_choices& choices) { return forks(choices, seen); });
    CHECK(none);
    CHECK(none.runs == 2);
    CHECK(seen == std::set<std::string>{"000", "010"});
    seen.clear();
    auto const one =
        every_run(run_bounds{1}, [&](run_choices& choices) { return forks(choices, seen); });
    CHECK(one);
    CHECK(one.runs == 2 + 6);
    CHECK(seen.size() == 8);
    seen.clear();
    auto const two =
        every_run(run_bounds{2}, [&](run_choices& choices) { return forks(choices, seen); });
    CHECK_FALSE(two);
    CHECK(two.trace == "took 211\nWRONG: two and one\n");
    CHECK(two.run == "2.1.1");
    CHECK(seen.size() == 12);
}

TEST_CASE("every run: an incomplete search does not count as correct") {
    std::set<std::string> seen;
    auto const run = [&](run_choices& choices) { return forks(choices, seen); };
    auto const cut = every_run(run_bounds{1, 3}, run);
    CHECK(cut.right);
    CHECK_FALSE(cut);
    std::ostringstream shown;
    shown << cut;
    CHECK(shown.str().find("cut short by run_bounds::most_runs") != std::string::npos);
}

TEST_CASE("every run: a named run is replayed, and an impossible name is refused") {
    std::set<std::string> seen;
    auto const run = [&](run_choices& choices) { return forks(choices, seen); };
    auto const again = every_run(replay{"2.1.1"}, run);
    CHECK_FALSE(again);
    CHECK(again.trace == "took 211\nWRONG: two and one\n");
    CHECK(every_run(replay{"2"}, run));
    CHECK_THROWS_WITH_AS(
        static_cast<void>(every_run(replay{"3"}, run)),
        "settle: this run cannot be repeated: there are 3 alternatives, where it took "
        "number 4 of 3",
        std::logic_error);
}

TEST_CASE("every run: a run that cannot be repeated is refused") {
    int calls = 0;
    CHECK_THROWS_WITH_AS(static_cast<void>(every_run(run_bounds{0},
                                                     [&](run_choices&) -> std::string {
                                                         return ++calls == 1 ? "broken" : "";
                                                     })),
                         "settle: this run cannot be repeated: it was wrong (broken), and right "
                         "when it was made again",
                         std::logic_error);
    calls = 0;
    CHECK_THROWS_WITH_AS(static_cast<void>(every_run(run_bounds{0},
                                                     [&](run_choices& choices) -> std::string {
                                                         int const turns = ++calls == 1 ? 3 : 1;
                                                         for (int i = 0; i < turns; ++i) {
                                                             choices.turn(2);
                                                         }
                                                         return "";
                                                     })),
                         "settle: this run cannot be repeated: it ended after 1 of 3 forks",
                         std::logic_error);
}

TEST_CASE("every run: a violated clause is reported with the steps that led to it") {
    auto const seen = every_run(run_bounds{1}, grants);
    CHECK_FALSE(seen);
    CHECK(seen.runs == 1);
    CHECK(seen.trace.find("w0: decide\n") != std::string::npos);
    CHECK(seen.trace.find("WRONG: suite_ledgers: a reader sees 105, more than the opening sum "
                          "100") != std::string::npos);
}
