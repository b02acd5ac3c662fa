// SPDX-License-Identifier: BSL-1.0
// The store suite: expired limits, observed events, and callbacks that throw or call the engine.
#pragma once

#include <settle/testing/store_suite/types.hpp>

#include <functional>
#include <map>
#include <stdexcept>
#include <tuple>

#if defined(DOCTEST_LIBRARY_INCLUDED)
SETTLE_BEGIN
namespace testing {

/// An observer that calls the case's action.
struct suite_watch {
    std::function<void(event const&)>* action;
    void operator()(event const& seen) const {
        if (*action) (*action)(seen);
    }
};

/// Runs `function(engine, action)` with an observed engine, once in one phase and once in two.
template <typename Fixture, typename Function>
void in_both_phases(Function&& function) {
    for (auto const how : {phases::one, phases::two}) {
        INFO("phases: ", how == phases::one ? "one" : "two");
        Fixture fixture;
        std::function<void(event const&)> action;
        options limits;
        // No call may wait for a live owner and take over its entry.
        limits.takeover = std::chrono::hours{1};
        limits.patience = std::chrono::seconds{5};
        engine watched{fixture.database_here(), type<move_type>, limits, how,
                       observed_by(suite_watch{&action})};
        watched.create(ledgers, {"A", 100, 0, ""}).value();
        watched.create(ledgers, {"B", 0, 0, ""}).value();
        function(watched, action);
        action = nullptr;
        CHECK(watched.marks().value() == 0);
        CHECK(watched.page({.unfinished = true}, "", 1).value().empty());
    }
}

template <typename Engine>
std::int64_t moved_in(Engine& watched) {
    auto const moved = watched.read(ledgers, "B").value()->balance;
    CHECK(watched.read(ledgers, "A").value()->balance == 100 - moved);
    return moved;
}

inline std::vector<std::pair<std::string, move>> suite_moves(std::string const& name, int count) {
    std::vector<std::pair<std::string, move>> pairs;
    for (int i = 0; i < count; ++i) {
        pairs.emplace_back(name + std::to_string(100 + i), move{"A", "B", 1});
    }
    return pairs;
}

/// A single-pass range that throws at an element or calls a function at each increment.
class suite_range {
public:
    using elements = std::vector<std::pair<std::string, move>>;

    /// Shape:   fails_at - the element at which it throws; goes_on - throw on the increment, not on
    ///          the dereference; each - called at each increment
    suite_range(elements const& shown, std::size_t fails_at, bool goes_on,
                std::function<void()> each = {})
        : given_(&shown), fails_at_(fails_at), goes_on_(goes_on), each_(std::move(each)) {}

    class iterator {
    public:
        using value_type = elements::value_type;
        using difference_type = std::ptrdiff_t;
        using iterator_concept = std::input_iterator_tag;

        iterator() = default;
        explicit iterator(suite_range& range) : range_(&range) {}
        value_type const& operator*() const {
            range_->fail(false);
            return (*range_->given_)[range_->at_];
        }
        iterator& operator++() {
            ++range_->at_;
            if (range_->each_) range_->each_();
            range_->fail(true);
            return *this;
        }
        void operator++(int) { ++*this; }
        bool operator==(std::default_sentinel_t) const {
            return range_->at_ == range_->given_->size();
        }

    private:
        suite_range* range_ = nullptr;
    };
    iterator begin() { return iterator{*this}; }
    std::default_sentinel_t end() const { return {}; }

private:
    void fail(bool goes_on) const {
        if (at_ == fails_at_ && goes_on == goes_on_) throw std::runtime_error("the range");
    }

    elements const* given_;
    std::size_t fails_at_;
    bool goes_on_;
    std::function<void()> each_;
    std::size_t at_ = 0;
};

TEST_CASE_TEMPLATE_DEFINE("engine: a call whose limit has passed writes nothing", Fixture,
                          suite_passed_limits) {
    in_both_phases<Fixture>([](auto& watched, auto& action) {
        REQUIRE(watched.run("done", move{"A", "B", 10}).done());
        REQUIRE(watched.submit("waits", move{"A", "B", 10}).problem.empty());
        action = [](event const& seen) {
            FAIL_CHECK("a step was taken: ", std::string{name_of(seen.taken)});
        };
        std::stop_source source;
        source.request_stop();
        std::stop_token const stop = source.get_token();
        auto const nothing = [](outcome const& result, std::string const& id) {
            INFO(result.text());
            CHECK(result.id == id);
            CHECK(result.verdict == verdict::undecided);
            CHECK(result.problem.code == errc::stopped);
            CHECK(result.problem.text.find("the call wrote nothing") != std::string::npos);
        };
        using std::chrono::milliseconds;
        std::vector<call_options> passed(4);
        passed[0].deadline = milliseconds{-5000};
        passed[1].deadline = milliseconds{0};
        passed[2].deadline = milliseconds::min();
        passed[3].stop = stop;
        for (call_options const& call : passed) {
            nothing(watched.run("new", move{"A", "B", 1}, call), "new");
            nothing(watched.submit("new", move{"A", "B", 1}, call), "new");
            nothing(watched.reverse("done", call), "done");
            cancel_options canceling;
            canceling.even_if_unknown = true;
            canceling.deadline = call.deadline;
            canceling.stop = call.stop;
            nothing(watched.cancel("waits", canceling), "waits");
            nothing(watched.cancel("new", canceling), "new");
            CHECK(watched.run(move{"A", "B", 1}, call).problem.code == errc::stopped);
            auto const results =
                watched.run_all(suite_moves("r", 7), {3, call.deadline, call.stop});
            CHECK(results.empty());
            CHECK(results.report.taken == 0);
            CHECK(results.report.not_taken == std::size_t{7});
            CHECK(results.report.problem.code == errc::stopped);
        }
        work_options working;
        working.stop = stop;
        CHECK(watched.work(working).problem.code == errc::stopped);
        recover_options recovering;
        recovering.stop = stop;
        CHECK(watched.recover(recovering).problem.code == errc::stopped);
        CHECK(watched.sweep(stop).problem.code == errc::stopped);
        purge_options purging;
        purging.stop = stop;
        CHECK(watched.purge(purging).problem.code == errc::stopped);
        // The log is unchanged.
        CHECK(watched.page({}, "", 9).value().size() == 2);
        CHECK(watched.find("waits").value()->state == state::initial);
        CHECK(moved_in(watched) == 10);
    });
}

TEST_CASE_TEMPLATE_DEFINE(
    "engine: each end has one event, and a repeated call has an event that says `ended before`",
    Fixture, suite_observed_ends) {
    in_both_phases<Fixture>([](auto& watched, auto& action) {
        std::map<std::string, std::string> ended;
        std::map<std::string, int> again;
        action = [&](event const& seen) {
            if (seen.ends()) {
                CHECK(ended.count(seen.id) == 0);
                ended[seen.id] = name_of(seen.state);
            }
            if (seen.ended_before()) {
                CHECK(ended.at(seen.id) == name_of(seen.state));
                ++again[seen.id];
            }
            bool const has_parameters = seen.parameters().find("\"source\"") != std::string::npos;
            if (seen.taken == step::end && !seen.type.empty()) CHECK(has_parameters);
        };
        std::ignore = watched.run("run", move{"A", "B", 1});
        std::ignore = watched.run("run", move{"A", "B", 1});
        // Refused: another transaction has the id.
        std::ignore = watched.run("run", move{"A", "B", 2});
        std::ignore = watched.run("poor", move{"A", "B", 1000});
        std::ignore = watched.run("poor", move{"A", "B", 1000});
        std::ignore = watched.run("refused", move{"A", "B", -1});
        auto moves = suite_moves("all", 3);
        moves.push_back(moves.front()); // a repeated id
        std::ignore = watched.run_all(moves);
        std::ignore = watched.run_all(moves);
        std::ignore = watched.submit("worked", move{"A", "B", 1});
        std::ignore = watched.submit("canceled", move{"A", "B", 1});
        std::ignore = watched.cancel("canceled");
        std::ignore = watched.cancel("canceled");
        std::ignore = watched.cancel("run");
        watched.work();
        std::ignore = watched.submit("worked", move{"A", "B", 1});
        std::ignore = watched.reverse("run");
        std::ignore = watched.reverse("run");
        cancel_options even;
        even.even_if_unknown = true;
        std::ignore = watched.cancel("closed", even);
        action = nullptr;
        std::map<std::string, std::string> in_log;
        for (entry const& one : watched.page({}, "", 99).value()) {
            in_log[one.id] = name_of(one.state);
        }
        CHECK(ended == in_log);
        CHECK(ended.size() == 9);
        CHECK(again == std::map<std::string, int>{{"run", 2},
                                                  {"poor", 1},
                                                  {"all100", 3},
                                                  {"all101", 1},
                                                  {"all102", 1},
                                                  {"canceled", 1},
                                                  {"worked", 1},
                                                  {"run/reverse", 1}});
    });
}

TEST_CASE_TEMPLATE_DEFINE(
    "engine: an exception of an observer leaves the call after the transactions have ended",
    Fixture, suite_observer_throws) {
    in_both_phases<Fixture>([](auto& watched, auto& action) {
        int thrown = 0;
        action = [&](event const&) {
            throw std::runtime_error("observer " + std::to_string(++thrown));
        };
        auto const first_leaves = [&](auto&& call) {
            thrown = 0;
            CHECK_THROWS_WITH(call(), "observer 1");
            CHECK(thrown >= 1);
        };
        first_leaves([&] { static_cast<void>(watched.run("t", move{"A", "B", 1})); });
        CHECK(watched.find("t").value()->state == state::done);
        first_leaves([&] { static_cast<void>(watched.run("poor", move{"A", "B", 1000})); });
        CHECK(watched.find("poor").value()->state == state::canceled);
        first_leaves([&] { static_cast<void>(watched.reverse("t")); });
        CHECK(watched.find("t/reverse").value()->state == state::done);
        first_leaves([&] { static_cast<void>(watched.submit("a", move{"A", "B", 1})); });
        first_leaves([&] { static_cast<void>(watched.submit("b", move{"A", "B", 1})); });
        first_leaves([&] { static_cast<void>(watched.cancel("a")); });
        CHECK(watched.find("a").value()->state == state::canceled);
        first_leaves([&] { static_cast<void>(watched.work()); });
        CHECK(watched.find("b").value()->state == state::done);

        for (std::size_t const window : {1U, 4U, 1000U}) {
            INFO("window ", window);
            auto const name = "w" + std::to_string(window) + "-";
            std::size_t reported = 0;
            auto const count = [&](std::size_t, outcome const& outcome) {
                CHECK(outcome.done());
                ++reported;
            };
            first_leaves([&] { watched.run_all(suite_moves(name, 9), count, {window, {}, {}}); });
            // Every transaction that was taken has ended and was reported.
            CHECK(reported == std::min<std::size_t>(window, 9));
            entry_filter const all;
            CHECK(watched.page(all, name, reported).value().back().id ==
                  name + std::to_string(99 + reported));
            action = [&](event const&) {
                throw std::runtime_error("observer " + std::to_string(++thrown));
            };
        }
        action = nullptr;
        CHECK(moved_in(watched) == 1 + 1 + 4 + 9);
    });
}

TEST_CASE_TEMPLATE_DEFINE(
    "engine: an exception of a range or a callback leaves the call after every outcome is reported",
    Fixture, suite_batch_throws) {
    in_both_phases<Fixture>([](auto& watched, auto&) {
        std::int64_t all_moved = 0;
        for (std::size_t const window : {1U, 4U, 1000U}) {
            INFO("window ", window);
            auto const moves = suite_moves("e" + std::to_string(window) + "-", 9);
            std::size_t reported = 0;
            auto const throws = [&](std::size_t, outcome const& outcome) {
                all_moved += outcome.done() ? 1 : 0;
                throw std::runtime_error("callback " + std::to_string(++reported));
            };
            CHECK_THROWS_WITH(watched.run_all(moves, throws, {window, {}, {}}), "callback 1");
            CHECK(reported == std::min<std::size_t>(window, 9));
            CHECK(moved_in(watched) == all_moved);

            // The range throws on the dereference or on the increment.
            for (bool const goes_on : {false, true}) {
                auto const rest =
                    suite_moves("r" + std::to_string(window) + (goes_on ? "+" : "-"), 9);
                suite_range range{rest, 5, goes_on};
                reported = 0;
                auto const count = [&](std::size_t number, outcome const& outcome) {
                    CHECK(outcome.done());
                    CHECK(number < rest.size());
                    ++reported;
                };
                CHECK_THROWS_WITH(watched.run_all(range, count, {window, {}, {}}), "the range");
                CHECK(reported == 5);
                all_moved += 5;
                CHECK(moved_in(watched) == all_moved);
            }
        }
    });
}

TEST_CASE_TEMPLATE_DEFINE("engine: observers, ranges and callbacks may call the engine", Fixture,
                          suite_reentrant) {
    in_both_phases<Fixture>([](auto& watched, auto& action) {
        int inner = 0;
        auto const call = [&] {
            auto const watching = std::exchange(action, nullptr);
            auto const id = "inner" + std::to_string(100 + ++inner);
            CHECK(watched.run(id, move{"A", "B", 1}).done());
            CHECK(watched.read(ledgers, "A").value().has_value());
            CHECK(watched.find(id).value()->state == state::done);
            auto const results = watched.run_all(suite_moves(id, 2), {2, {}, {}});
            CHECK(results.size() == 2);
            for (outcome const& one : results) CHECK(one.done());
            action = watching;
        };
        std::int64_t outer = 0;
        int steps = 0;
        action = [&](event const&) {
            ++steps;
            call();
        };
        CHECK(watched.run("outer", move{"A", "B", 1}).done());
        ++outer;
        CHECK(inner == steps);
        CHECK(steps >= 2);
        action = [&](event const& seen) {
            if (seen.ends()) call();
        };
        for (auto const& one : watched.run_all(suite_moves("watched", 3), {2, {}, {}})) {
            CHECK_MESSAGE(one.done(), one.text());
            ++outer;
        }
        action = nullptr;
        auto const moves = suite_moves("heard", 3);
        watched.run_all(moves,
                        [&](std::size_t, outcome const& outcome) {
                            CHECK(outcome.done());
                            ++outer;
                            call();
                        },
                        {2, {}, {}});
        suite_range range{moves, 99, false, call};
        watched.run_all(range, [](std::size_t, outcome const& outcome) { CHECK(outcome.done()); },
                        {2, {}, {}});
        CHECK(moved_in(watched) == outer + 3 * inner);
    });
}

} // namespace testing
SETTLE_END
#endif
