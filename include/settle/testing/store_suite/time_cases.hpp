// SPDX-License-Identifier: BSL-1.0
// The store suite: entries with wrong dates.
#pragma once

#include <settle/testing/faults.hpp>
#include <settle/testing/manual_environment.hpp>
#include <settle/testing/store_suite/engine_cases.hpp>
#include <settle/testing/store_suite/entries.hpp>

#include <tuple>

#if defined(DOCTEST_LIBRARY_INCLUDED)
SETTLE_BEGIN
namespace testing {

/// A machine clock that is ahead of the manual environment's clock.
struct machine_clock : manual_environment {
    std::chrono::milliseconds ahead;
    machine_clock(manual_environment const& others, std::chrono::milliseconds by)
        : manual_environment(others), ahead(by) {}
    [[nodiscard]] timestamp now() const { return manual_environment::now() + ahead; }
};

inline constexpr std::chrono::hours twelve_years{24 * 365 * 12};

/// Writes an entry with the given times, as a worker with that clock would.
/// Shape:   left - initial, pending or done
template <typename Log>
void plant_dated(Log& log, transaction_id id, timestamp created, timestamp modified, state left) {
    entry_writer writer{log,
                        test_transaction::of<forward<move_type>>(std::move(id), {"A", "B", 10})};
    state const first = left == state::initial ? state::initial : state::pending;
    std::string const owner = "elsewhere";
    REQUIRE(writer.insert(first, 70, modified, owner, created) == log_answer::taken);
    if (left != state::done) return;
    REQUIRE(writer.commit(modified, owner) == log_answer::taken);
    REQUIRE(writer.close(modified, owner) == log_answer::taken);
}

TEST_CASE_TEMPLATE_DEFINE("log: a listing by time may include entries dated in the future", Fixture,
                          suite_listing_ahead) {
    Fixture fixture;
    auto log = fixture.database_here().bind_log();
    auto const now = at_millisecond(0);
    auto const far = now + twelve_years;
    plant_dated(log, "a old", now - twelve_years, now - twelve_years, state::pending);
    plant_dated(log, "b new", now, now, state::pending);
    plant_dated(log, "c created ahead", far, now, state::pending);
    plant_dated(log, "d modified ahead", now, far, state::pending);
    plant_dated(log, "e at the beginning", timestamp::min(), timestamp::min(), state::pending);
    plant_dated(log, "f at the end", timestamp::max(), timestamp::max(), state::pending);
    plant_dated(log, "g submitted ahead", far, far, state::initial);
    plant_dated(log, "h done ahead", far, far, state::done);
    entry_filter filter;
    filter.before = now - std::chrono::hours{1};
    CHECK(ids_of(log.list(filter, "", 100).value()) == "a old e at the beginning ");
    filter.ahead_of = now + std::chrono::hours{1};
    std::string const begun = "a old c created ahead d modified ahead e at the beginning "
                              "f at the end ";
    CHECK(ids_of(log.list(filter, "", 100).value()) == begun + "g submitted ahead h done ahead ");
    filter.unfinished = true;
    CHECK(ids_of(log.list(filter, "", 100).value()) == begun);
    filter.unfinished = false;
    filter.state = state::pending;
    CHECK(ids_of(log.list(filter, "", 100).value()) == begun);
    filter.state = state::initial;
    CHECK(ids_of(log.list(filter, "", 100).value()) == "g submitted ahead ");
    filter.state = state::done;
    CHECK(ids_of(log.list(filter, "", 100).value()) == "h done ahead ");
    // The first and the last representable times.
    filter = {};
    filter.before = timestamp::min();
    filter.ahead_of = timestamp::max();
    CHECK(ids_of(log.list(filter, "", 100).value()) == "e at the beginning ");
    filter.before = timestamp::max();
    CHECK(log.list(filter, "", 100).value().size() == 8);
    auto const kept = log.read("f at the end").value().value();
    CHECK(kept.created == timestamp::max());
    CHECK(kept.modified == timestamp::max());
}

/// Purges in steps of at most `step` entries; returns the number of steps.
template <typename Log>
std::size_t purge_in_steps(Log& log, timestamp before, std::size_t step, std::uint64_t& erased) {
    purged gone;
    std::size_t steps = 0;
    do {
        gone = log.purge(before, step, gone.passed).value();
        CHECK(gone.erased <= step);
        erased += gone.erased;
        ++steps;
    } while (gone.more && steps < 10'000);
    return steps;
}

TEST_CASE_TEMPLATE_DEFINE("log: a purge with small steps passes entries that it cannot erase",
                          Fixture, suite_purge_wrong_dates) {
    Fixture fixture;
    auto log = fixture.database_here().bind_log();
    auto const now = at_millisecond(0);
    auto const long_ago = now - twelve_years;
    auto const far = now + twelve_years;
    struct kind {
        char const* name;
        timestamp created;
        timestamp modified;
        state left;
    };
    // Entries that a purge must keep; their ids precede the ids of the old entries.
    std::vector<kind> const staying{{"created ahead", far, long_ago, state::done},
                                    {"modified ahead", long_ago, far, state::done},
                                    {"created lately", now, long_ago, state::done},
                                    {"at the end", timestamp::max(), long_ago, state::done},
                                    {"not finished", long_ago, long_ago, state::pending},
                                    {"submitted", long_ago, long_ago, state::initial}};
    std::size_t const copies = 3;
    for (std::size_t i = 0; i < copies; ++i) {
        for (auto const& one : staying) {
            plant_dated(log, "a" + std::to_string(i) + one.name, one.created, one.modified,
                        one.left);
        }
    }
    std::size_t const old = 20;
    for (std::size_t i = 0; i < old; ++i) {
        plant_dated(log, "b" + std::to_string(i), i == 7 ? timestamp::min() : long_ago, long_ago,
                    state::done);
    }
    auto const before = now - std::chrono::hours{1};
    for (std::size_t const step : {std::size_t{1}, std::size_t{7}, std::size_t{1000}}) {
        CAPTURE(step);
        std::uint64_t erased = 0;
        auto const steps = purge_in_steps(log, before, step, erased);
        CHECK(erased == old);
        // A purge does not count the entries that it keeps.
        CHECK(steps <= old / step + 2);
        CHECK(log.list({}, "", 100).value().size() == copies * staying.size());
        for (std::size_t i = 0; i < old; ++i) {
            plant_dated(log, "c" + std::to_string(i), long_ago, long_ago, state::done);
        }
    }
}

/// An engine with its own clock.
template <typename Database, typename Clock>
auto engine_at(Database& database, Clock const& clock) {
    return engine{database, type<move_type>, two_phases, with_environment(clock)};
}

/// Runs a transaction on an engine that crashes after the step `last_step`.
template <typename Database, typename Clock>
void leave(Database& database, Clock const& clock, transaction_id const& id,
           std::string_view last_step, std::int64_t amount = 10) {
    faulty fragile{database};
    fragile.plan([&](call const& current) {
        return fault{current.what == last_step ? fault_kind::crash_after : fault_kind::none};
    });
    auto crashing = engine_at(fragile, clock);
    CHECK_THROWS_AS(std::ignore = crashing.run(id, move{"A", "B", amount}), crash);
}

template <typename Engine>
std::string standing_still(Engine& engine, state in, time_limit older_than) {
    std::string ids;
    for (entry const& one : engine.list(in, older_than)) ids += one.id + ' ';
    return ids;
}

TEST_CASE_TEMPLATE_DEFINE("engine: entries of a machine with a clock years ahead are settled",
                          Fixture, suite_clock_ahead) {
    Fixture fixture;
    auto& database = fixture.database_here();
    manual_environment const world;
    machine_clock const wrong{world, twelve_years};
    auto engine = engine_at(database, world);
    engine.create(ledgers, {"A", 100, 0, ""}).value();
    engine.create(ledgers, {"B", 0, 0, ""}).value();
    leave(database, wrong, "1 pending", "apply");
    leave(database, wrong, "2 committed", "commit");
    leave(database, wrong, "3 canceling", "cancel", 1000);
    for (char const* const id : {"4 submitted", "4 submitted, too"}) {
        CHECK(engine_at(database, wrong).submit(id, move{"A", "B", 10}).problem.empty());
    }
    auto log = database.bind_log();
    auto const now = world.now();
    auto const as_far_as_may_be = now + engine.limits().clocks;
    plant_dated(log, "5 begun in time", now, now + twelve_years, state::pending);
    plant_dated(log, "6 alive", now, now, state::pending);
    plant_dated(log, "7 ahead", as_far_as_may_be, as_far_as_may_be, state::pending);
    plant_dated(log, "8 created ahead", now + twelve_years, now, state::pending);

    CHECK(standing_still(engine, state::pending, std::chrono::minutes{30}) ==
          "1 pending 5 begun in time 8 created ahead ");
    CHECK(standing_still(engine, state::applied, std::chrono::hours::max()) == "2 committed ");
    auto const report = engine.recover();
    CHECK(report.problem.empty());
    CHECK(report.skipped.empty());
    CHECK(report.done == 2);
    CHECK(report.canceled == 3);
    CHECK(report.young == 2);
    // An entry dated ahead counts as too old, because its age is unknown.
    CHECK(engine.find("1 pending").value()->why == reason::expired);
    CHECK(engine.find("2 committed").value()->state == state::done);
    CHECK(engine.find("3 canceling").value()->why == reason::guard_failed);
    CHECK(engine.find("5 begun in time").value()->state == state::done);
    CHECK(engine.work({.limit = 1}).canceled == 1);
    CHECK(engine.find("4 submitted").value()->why == reason::expired);
    // One phase does not commit such an entry either.
    settle::engine in_one_phase{database, type<move_type>, phases::one, with_environment(world)};
    CHECK(in_one_phase.work().canceled == 1);
    CHECK(engine.find("4 submitted, too").value()->why == reason::expired);
    world.advance(engine.limits().clocks + std::chrono::minutes{30});
    CHECK(engine.recover().done == 2);
    CHECK(engine.read(ledgers, "A").value()->balance == 60);
    CHECK(engine.read(ledgers, "B").value()->balance == 40);
    CHECK(engine.marks().value() == 0);
}

TEST_CASE_TEMPLATE_DEFINE("engine: entries of any date are followed, canceled and not reversed",
                          Fixture, suite_any_date) {
    Fixture fixture;
    auto& database = fixture.database_here();
    manual_environment const world;
    machine_clock const wrong{world, twelve_years};
    auto engine = engine_at(database, world);
    engine.create(ledgers, {"A", 1000, 0, ""}).value();
    engine.create(ledgers, {"B", 0, 0, ""}).value();
    leave(database, wrong, "asked again", "apply");
    leave(database, wrong, "canceled", "apply");
    CHECK(engine.cancel("canceled").canceled());
    // The caller takes over after the entry stood still for `takeover` by the caller's clock.
    CHECK(engine.run("asked again", move{"A", "B", 10}).why == reason::expired);
    CHECK(engine_at(database, wrong).run("done", move{"A", "B", 10}).done());
    auto const again = engine.reverse("done");
    CHECK(again.verdict == verdict::refused);
    CHECK(again.problem.code == errc::not_reversible);
    CHECK(engine_at(database, wrong).reverse("done").done());
    CHECK(engine.read(ledgers, "A").value()->balance == 1000);

    auto log = database.bind_log();
    auto const now = world.now();
    std::size_t number = 0;
    for (timestamp const created : {timestamp::min(), timestamp{}, now, timestamp::max()}) {
        for (timestamp const modified : {timestamp::min(), timestamp::max()}) {
            for (state const left : {state::initial, state::pending, state::done}) {
                plant_dated(log, "x" + std::to_string(number++), created, modified, left);
            }
        }
    }
    auto const report = engine.recover({.older_than = std::chrono::hours::max()});
    CHECK(report.done == 2);
    CHECK(report.canceled == 6);
    CHECK(report.young == 0);
    auto const worked = engine.work();
    CHECK(worked.done == 2);
    CHECK(worked.canceled == 6);
    for (std::size_t i = 2; i < number; i += 3) {
        CHECK(engine.reverse("x" + std::to_string(i)).problem.code == errc::not_reversible);
    }
    CHECK(engine.read(ledgers, "A").value()->balance == 960);
    CHECK(engine.marks().value() == 0);
    std::uint64_t finished = 0;
    for (state const final_state : {state::done, state::canceled}) {
        for (entry const& one : engine.list(final_state, std::chrono::hours::min())) {
            finished += one.id.starts_with('x') ? 1U : 0U;
        }
    }
    CHECK(finished == number);
}

} // namespace testing
SETTLE_END
#endif
