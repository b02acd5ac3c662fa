// SPDX-License-Identifier: BSL-1.0
// A bench runs each transaction once, counts each of its steps, and divides its time among them.
#include "engine_types.hpp"
#include "sqlite_file.hpp"

#include <settle/testing/bench.hpp>

#include <cmath>
#include <set>
#include <stdexcept>

namespace engine_test {
namespace {

namespace st = settle::testing;
using settle::step;

transfer numbered_transfer(std::uint64_t number) {
    return {number % 2 == 0 ? "A" : "B", number % 2 == 0 ? "B" : "A", 1};
}

st::bench_limits const limits{60, 25, 4};

std::set<step> steps_of(st::bench_part const& part) {
    std::set<step> steps;
    for (auto const& each : part.steps) steps.insert(each.taken);
    return steps;
}

/// Shape:   steps - that each transaction takes once
template <typename Database, typename... Options>
void check_bench(Database& db, std::set<step> const& steps, Options const&... options) {
    settle::engine keeper{db, settle::type<transfer_type>};
    open_accounts(keeper, {{"A", 1000}, {"B", 1000}});
    auto const report = st::bench(
        [&](auto const& observer) {
            return settle::engine{db, settle::type<transfer_type>, observer, options...};
        },
        numbered_transfer, limits);
    CHECK_MESSAGE(report, report.problem);
    REQUIRE(report.parts.size() == 3);
    CHECK(report.parts[0].how == "one at a time");
    CHECK(report.parts[1].how == "in a batch of 25");
    CHECK(report.parts[2].how == "4 threads");
    for (auto const& part : report.parts) {
        INFO(part);
        CHECK(part.transactions == 60);
        CHECK(part.elapsed.count() > 0);
        CHECK(part.p50.count() > 0);
        CHECK(part.p50 <= part.p99);
        CHECK(part.p99 <= part.longest);
        CHECK(part.longest <= part.elapsed);
        double sum = part.rest;
        for (auto const& each : part.steps) {
            CHECK(each.share >= 0);
            sum += each.share;
            if (steps.contains(each.taken)) CHECK(each.count == 60);
        }
        CHECK(std::abs(sum - 1) < 1e-9);
        CHECK(part.rest >= 0);
        for (auto const taken : steps) CHECK(steps_of(part).contains(taken));
    }
    CHECK(steps_of(report.parts[0]) == steps);

    // Each transaction ran once: each account gives and gets as often.
    std::uint64_t done = 0;
    for (settle::entry const& entry : keeper.list()) done += entry.state == state::done ? 1 : 0;
    CHECK(done == 180);
    CHECK(balance_of(keeper, "A") == 1000);
    CHECK(marks_in(keeper) == 0);
}

std::set<step> const two_phases{step::insert, step::apply, step::commit, step::confirm,
                                step::close};

TEST_CASE("bench: on memory and on SQLite, in two phases and in one") {
    settle::memory::database memory;
    check_bench(memory, two_phases, settle::two_phases);
    sqlite_test::folder const own;
    settle::sqlite::database one{own.file("one.db")};
    check_bench(one, {step::one_phase});
    settle::sqlite::database two{own.file("two.db")};
    check_bench(two, two_phases, settle::two_phases);
}

/// The report of a bench whose account is empty after so many transfers.
st::bench_report stopped_after(std::int64_t transfers) {
    settle::memory::database db;
    settle::engine keeper{db, settle::type<transfer_type>};
    open_accounts(keeper, {{"A", transfers}, {"B", 0}});
    return st::bench(
        [&](auto const& observer) {
            return settle::engine{db, settle::type<transfer_type>, observer};
        },
        [](std::uint64_t) { return transfer{"A", "B", 1}; }, limits);
}

TEST_CASE("bench: a transaction that is not done ends it with a sentence, in each part") {
    for (std::size_t part = 0; part < 3; ++part) {
        auto const report = stopped_after(static_cast<std::int64_t>(60 * part + 30));
        CHECK_FALSE(report);
        CHECK(report.parts.size() == part);
        CHECK_MESSAGE(testing::contains(report.problem,
                                        "settle: the bench stopped at a transaction that is not "
                                        "done: bench-"),
                      report.problem);
        CHECK(testing::contains(report.problem, ": canceled (source: guard failed). Give records"));
    }
}

TEST_CASE("bench: a limit of 0 is refused, and an exception of the parameters is passed on") {
    settle::memory::database db;
    auto const make = [&](auto const& observer) {
        return settle::engine{db, settle::type<transfer_type>, observer};
    };
    auto const refused = st::bench(make, numbered_transfer, {60, 25, 0});
    CHECK(testing::contains(refused.problem, "a limit of it is 0"));

    settle::engine keeper{db, settle::type<transfer_type>};
    open_accounts(keeper, {{"A", 1000}, {"B", 1000}});
    for (std::uint64_t const last : {10U, 70U, 130U}) {
        auto const ends = [&](std::uint64_t number) {
            if (number == last) throw std::runtime_error{"no more parameters"};
            return numbered_transfer(number);
        };
        CHECK_THROWS_WITH_AS(std::ignore = st::bench(make, ends, limits), "no more parameters",
                             std::runtime_error);
    }
}

} // namespace
} // namespace engine_test
