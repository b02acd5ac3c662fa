// SPDX-License-Identifier: BSL-1.0
// The trace context of a caller: its form, the spans below it, and the entries that keep it.
#include "two_files.hpp"

#include <contains.hpp>
#include <settle/base/trace_context.hpp>
#include <settle/runner.hpp>

#include <future>
#include <set>
#include <vector>

using namespace two_files_test;
using testing::contains;

namespace {

std::string const trace = "4bf92f3577b34da6a3ce929d0e0e4736";
std::string const caller = "00-" + trace + "-00f067aa0ba902b7-01";
std::string const other = "00-" + trace + "-00f067aa0ba902b8-00";

} // namespace

TEST_CASE("trace: only the form of version 00 is a traceparent") {
    CHECK(settle::is_traceparent(caller));
    CHECK(settle::trace_of(caller) == trace);
    CHECK(settle::span_of(caller) == "00f067aa0ba902b7");
    std::string const zeros(32, '0');
    for (auto const& wrong :
         {std::string{}, caller + "-00", caller.substr(1), "01" + caller.substr(2),
          "00-" + std::string{"4BF92F3577B34DA6A3CE929D0E0E4736"} + caller.substr(35),
          "00-" + zeros + caller.substr(35), caller.substr(0, 36) + zeros.substr(16) + "-01",
          caller.substr(0, 35) + "_" + caller.substr(36), caller.substr(0, 54) + "g"}) {
        CHECK_MESSAGE(!settle::is_traceparent(wrong), wrong);
    }
}

TEST_CASE("trace: spans below one parent differ by their names, and are the same again") {
    std::set<std::string> spans{std::string{settle::span_of(caller)}};
    for (int number = 0; number < 1000; ++number) {
        auto const child = settle::child_of(caller, "t" + std::to_string(number));
        REQUIRE(settle::is_traceparent(child));
        CHECK(settle::trace_of(child) == trace);
        CHECK(child.ends_with("-01"));
        CHECK(spans.insert(std::string{settle::span_of(child)}).second);
        CHECK(child == settle::child_of(caller, "t" + std::to_string(number)));
    }
    CHECK(settle::child_of(other, "t1") != settle::child_of(caller, "t1"));
}

TEST_CASE("trace: a wrong traceparent is refused before anything is written") {
    two_files files;
    auto engine = files.make();
    deposit const parameters{"A", "V", 1};
    std::string const wrong = "00-" + trace;
    settle::runner runner{engine};
    std::promise<settle::outcome> started;
    CHECK(runner
              .start("t", parameters, [&](settle::outcome ended) { started.set_value(ended); },
                     {.traceparent = wrong})
              .has_value());
    for (auto const& refused :
         {engine.run("t", parameters, {.traceparent = wrong}), started.get_future().get(),
          engine.submit("t", parameters, {.traceparent = wrong})}) {
        CHECK(refused.verdict == verdict::refused);
        CHECK(refused.problem.code == settle::errc::bad_option);
        CHECK(
            contains(refused.problem.text, "the traceparent \"" + wrong + "\" is not of the form"));
    }
    auto const ended = engine.run_all(std::vector{parameters, parameters}, {.traceparent = "\xff"});
    CHECK(ended.empty());
    CHECK(ended.report.not_taken == std::size_t{2});
    CHECK(ended.report.problem.code == settle::errc::bad_option);
    CHECK(engine.page({}, "", 10).value().empty());

    settle::memory::database db;
    settle::engine in_memory{db, settle::type<transfer_type>};
    CHECK(in_memory.run("t", transfer{"A", "B", 1}, {.traceparent = wrong}).problem.code ==
          settle::errc::bad_option);
    CHECK(in_memory.page({}, "", 10).value().empty());
}

TEST_CASE("trace: the first call of an id gives its entry the trace, and events have it") {
    two_files files;
    std::set<std::string> seen;
    files.action = [&](settle::event const& event) { seen.emplace(event.traceparent); };
    auto engine = files.make();
    REQUIRE(engine.run("t", deposit{"A", "V", 1}, {.traceparent = caller}).done());
    CHECK(seen == std::set<std::string>{caller});
    // Before this call finds the entry, its own trace counts.
    seen.clear();
    files.action = [&](settle::event const& event) {
        if (event.taken == settle::step::end) seen.emplace(event.traceparent);
    };
    REQUIRE(engine.run("t", deposit{"A", "V", 1}, {.traceparent = other}).done());
    CHECK(seen == std::set<std::string>{caller});
    CHECK(entry_of(engine, "t").traceparent == caller);
    // A reversal is a transaction of its own.
    REQUIRE(engine.reverse("t", {.traceparent = other}).done());
    CHECK(entry_of(engine, "t/reverse").traceparent == other);

    REQUIRE(engine.run("without", deposit{"A", "V", 1}).done());
    REQUIRE(engine.run("without", deposit{"A", "V", 1}, {.traceparent = caller}).done());
    CHECK(entry_of(engine, "without").traceparent.empty());
    CHECK(engine.run("poor", deposit{"A", "V", 1000}, {.traceparent = caller}).canceled());
    CHECK(entry_of(engine, "poor").traceparent == caller);
    std::vector const both{std::pair{"u", deposit{"A", "V", 1}},
                           std::pair{"v", deposit{"A", "V", 1}}};
    CHECK(engine.run_all(both, {.traceparent = other}).report.problem.empty());
    for (auto const* id : {"u", "v"}) CHECK(entry_of(engine, id).traceparent == other);
}

TEST_CASE("trace: another worker goes on in the trace of the caller") {
    two_files files;
    {
        auto engine = files.make();
        REQUIRE(engine.submit("submitted", deposit{"A", "V", 1}, {.traceparent = caller})
                    .problem.empty());
        files.action = kill_after(settle::step::decide);
        CHECK_THROWS_AS(
            std::ignore = engine.run("t", deposit{"A", "V", 1}, {.traceparent = caller}), killed);
        files.action = kill_after(settle::step::apply);
        CHECK_THROWS_AS(
            std::ignore = engine.run("u", deposit{"A", "V", 1}, {.traceparent = caller}), killed);
    }
    std::set<std::string> seen;
    files.action = [&](settle::event const& event) {
        seen.insert(event.id + ":" + std::string{event.traceparent});
    };
    auto engine = files.make();
    files.world.time += std::chrono::hours{1};
    CHECK(engine.work().done == 1);
    CHECK(engine.recover().done == 1);
    CHECK(seen.count("submitted:" + caller) == 1);
    CHECK(seen.count("t:" + caller) == 1);
    // The call of "u" has left a mark, and no entry that could have kept its trace.
    CHECK(files.marks() == "0+0");
    CHECK(entry_of(engine, "u").traceparent.empty());
}

TEST_CASE("trace: calls that share a window, and a runner, have a trace each") {
    two_files files;
    auto engine = files.make();
    std::vector<std::promise<void>> ended(40);
    {
        settle::runner runner{engine};
        for (std::size_t number = 0; number < ended.size(); ++number) {
            auto const id = "r" + std::to_string(number);
            CHECK(runner
                      .start(id, deposit{"A", "V", 1},
                             [&, number](settle::outcome const&) { ended[number].set_value(); },
                             {.traceparent = settle::child_of(caller, id)})
                      .has_value());
        }
        for (auto& each : ended) each.get_future().get();
    }
    for (std::size_t number = 0; number < ended.size(); ++number) {
        auto const id = "r" + std::to_string(number);
        CHECK(entry_of(engine, id).traceparent == settle::child_of(caller, id));
    }
}
