// SPDX-License-Identifier: BSL-1.0
// Limits at the ends of their types: each works, or is refused with a sentence that names it.
#include "engine_types.hpp"

#include <settle/running/calls/listing.hpp>
#include <settle/running/calls/recovery.hpp>

#include <range/v3/iterator/operations.hpp>

#include <future>
#include <limits>
#include <thread>
#include <tuple>

namespace engine_test {
namespace {

using namespace std::chrono_literals;
using std::chrono::hours;
using std::chrono::milliseconds;

// Where std::chrono would overflow, a limit is the longest or the shortest that there is.
static_assert(settle::time_limit{hours::max()} == milliseconds::max());
static_assert(settle::time_limit{hours::min()} == milliseconds::min());
static_assert(settle::time_limit{milliseconds::max()} == milliseconds::max());
static_assert(settle::time_limit{milliseconds::min()} == milliseconds::min());
static_assert(settle::time_limit{std::chrono::years{3}} == milliseconds{std::chrono::years{3}});
static_assert(settle::time_limit{-5h} == milliseconds{-5h});
static_assert(settle::time_limit{std::chrono::duration<std::uint64_t, std::milli>{~0ULL}} ==
              milliseconds::max());
static_assert(settle::saturating<std::chrono::microseconds>{milliseconds::max()} ==
              std::chrono::microseconds::max());
static_assert(settle::time_limit{}.count() == 0);
// A duration that std::chrono converts only by a cast is refused as a limit.
static_assert(!std::is_convertible_v<std::chrono::microseconds, settle::time_limit>);
static_assert(!std::is_convertible_v<std::chrono::duration<double>, settle::time_limit>);

/// An option of time, by its name.
struct time_option {
    char const* name;
    std::function<void(settle::options&, hours)> set;
    bool may_be_zero = true;
};

std::vector<time_option> const& time_options() {
    using settle::options;
    static std::vector<time_option> const time_limits{
        {"takeover", [](options& to, hours limit) { to.takeover = limit; }},
        {"resubmission", [](options& to, hours limit) { to.resubmission = limit; }},
        {"lifetime", [](options& to, hours limit) { to.lifetime = limit; }, false},
        {"clocks", [](options& to, hours limit) { to.clocks = limit; }},
        {"first_pause", [](options& to, hours limit) { to.first_pause = limit; }},
        {"longest_pause", [](options& to, hours limit) { to.longest_pause = limit; }},
        {"call_first_pause", [](options& to, hours limit) { to.call_first_pause = limit; }},
        {"call_longest_pause", [](options& to, hours limit) { to.call_longest_pause = limit; }},
        {"call_patience", [](options& to, hours limit) { to.call_patience = limit; }},
        {"patience", [](options& to, hours limit) { to.patience = limit; }},
    };
    return time_limits;
}

/// A database and engines of given limits on it.
struct limited {
    settle::memory::database database;
    world_state world;

    auto engine(settle::options const& limits) {
        return settle::engine{database, settle::type<transfer_type>, limits, settle::phases::two,
                              settle::with_environment(manual_environment{world})};
    }
    auto opened(settle::options const& limits = {}) {
        open_accounts(*settle::open_engine(database, settle::type<transfer_type>).value(),
                      {{"A", 100}, {"B", 0}});
        return engine(limits);
    }
    void leave_pending(std::string const& id) {
        plant<transfer_direction>(database, id, transfer{"A", "B", 1}, "elsewhere", world.time);
    }
};

TEST_CASE("limits: every option of time may be infinite, or 0 where that is allowed") {
    for (auto const& option : time_options()) {
        for (hours const limit : {hours::max(), hours{0}}) {
            if (limit == 0h && !option.may_be_zero) continue;
            CAPTURE(option.name);
            CAPTURE(limit.count());
            limited limited;
            settle::options limits;
            option.set(limits, limit);
            auto engine = limited.opened(limits);
            CHECK(engine.run("t", transfer{"A", "B", 10}).done());
            CHECK(engine.run("u", transfer{"A", "B", 1000}).why == reason::guard_failed);
            CHECK(engine.reverse("t").done());
            CHECK(engine.submit("w", transfer{"A", "B", 10}).problem.empty());
            CHECK(engine.work().done == 1);
            limited.leave_pending("v");
            limited.world.time += 1h;
            CHECK(engine.recover().done == 1);
            CHECK(balance_of(engine, "B") == 11);
            CHECK(marks_in(engine) == 0);
        }
    }
}

TEST_CASE("limits: all options of time may be infinite together") {
    limited limited;
    settle::options limits;
    for (auto const& option : time_options()) option.set(limits, hours::max());
    limits.attempts = std::numeric_limits<std::uint32_t>::max();
    auto engine = limited.opened(limits);
    CHECK(engine.run("t", transfer{"A", "B", 10}).done());
    CHECK(engine.limits().horizon() == milliseconds::max());
    // Another's entry that never counts as abandoned is waited for until the call's own deadline.
    limited.leave_pending("v");
    CHECK(engine.run("v", transfer{"A", "B", 1}, {.deadline = hours{24 * 365}}).verdict ==
          verdict::undecided);
    CHECK(engine.recover().done == 1);
    // With an infinite lifetime no entry is too old, whatever its date.
    plant<transfer_direction>(limited.database, "old", transfer{"A", "B", 1}, "elsewhere",
                              settle::timestamp::min());
    plant<transfer_direction>(limited.database, "far", transfer{"A", "B", 1}, "elsewhere",
                              settle::timestamp::max());
    CHECK(engine.recover().done == 1);
    CHECK(engine.recover({.older_than = hours::min()}).done == 1);
    CHECK(entry_of(engine, "old").state == state::done);
    CHECK(entry_of(engine, "far").state == state::done);
}

TEST_CASE("limits: an invalid option is refused before anything is written") {
    for (auto const& option : time_options()) {
        for (hours const limit : {hours{0}, hours{-1}, hours::min()}) {
            if (limit == 0h && option.may_be_zero) continue;
            CAPTURE(option.name);
            CAPTURE(limit.count());
            limited limited;
            settle::options limits;
            option.set(limits, limit);
            auto const made =
                settle::open_engine(limited.database, settle::type<transfer_type>, limits);
            REQUIRE_FALSE(made.has_value());
            CHECK(made.problem().code == settle::errc::bad_option);
            CHECK(made.problem().code == settle::condition::permanent);
            CHECK(made.problem().text.starts_with("settle: options::" + std::string{option.name} +
                                                  " is "));
            // No log owns the database yet.
            CHECK_NOTHROW(limited.database.bind<std::remove_cvref_t<decltype(accounts)>>("any"));
        }
    }
    // An overflow in the user's program shows as its result.
    limited limited;
    settle::options limits;
    limits.lifetime = milliseconds{-3600000};
    CHECK_THROWS_WITH_AS(limited.engine(limits),
                         "settle: options::lifetime is -3600000 ms. Give it more than 0; "
                         "std::chrono::hours::max() is for ever. See options#options",
                         settle::failure);
}

TEST_CASE("limits: every call accepts an infinite deadline") {
    limited limited;
    auto engine = limited.opened();
    settle::call_options call;
    call.deadline = hours::max();
    CHECK(engine.run("t", transfer{"A", "B", 10}, call).done());
    CHECK(engine.submit("s", transfer{"A", "B", 10}, call).problem.empty());
    CHECK(engine.reverse("t", call).done());
    settle::cancel_options cancel;
    cancel.deadline = hours::max();
    CHECK(engine.cancel("s", cancel).canceled());
    settle::batch_options batch;
    batch.deadline = hours::max();
    std::vector<transfer> const all(20, transfer{"A", "B", 1});
    for (std::size_t const window : {std::size_t{0}, std::size_t{1}, ~std::size_t{0}}) {
        batch.window = window;
        auto const outcomes = engine.run_all(all, batch);
        REQUIRE(outcomes.size() == all.size());
        for (auto const& one : outcomes) CHECK(one.done());
    }
    CHECK(balance_of(engine, "B") == 60);
}

TEST_CASE("limits: a deadline in the past leaves no transaction half done") {
    limited limited;
    auto engine = limited.opened();
    for (milliseconds const limit : {0ms, -1ms, milliseconds::min()}) {
        settle::batch_options batch;
        batch.deadline = limit;
        std::vector<transfer> const all(3, transfer{"A", "B", 1});
        auto const many = engine.run_all(all, batch);
        CHECK(many.empty());
        CHECK(many.report.taken == 0);
        CHECK(many.report.problem.code == settle::errc::stopped);
        settle::call_options call;
        call.deadline = limit;
        std::string const id = "x" + std::to_string(limit.count());
        auto const one = engine.run(id, transfer{"A", "B", 1}, call);
        CHECK(one.verdict == verdict::undecided);
        CHECK(one.problem.code == settle::errc::stopped);
        CHECK_FALSE(engine.find(id).value());
        CHECK(engine.run(transfer{"A", "B", 1}, call).verdict == verdict::undecided);
        CHECK(balance_of(engine, "A") == 100);
        CHECK(balance_of(engine, "B") == 0);
        CHECK(marks_in(engine) == 0);
        // The call does not wait for an entry of another process.
        limited.leave_pending("v" + std::to_string(limit.count()));
        auto const outcome =
            engine.run("v" + std::to_string(limit.count()), transfer{"A", "B", 1}, call);
        CHECK(outcome.verdict == verdict::undecided);
        CHECK(limited.world.pauses == 0);
    }
}

TEST_CASE("limits: recover() and work() accept the least and the greatest options") {
    limited limited;
    auto engine = limited.opened();
    for (int i = 0; i < 3; ++i) limited.leave_pending("r" + std::to_string(i));
    settle::recover_options recover;
    recover.older_than = hours::max();
    CHECK(engine.recover(recover).young == 3);
    recover.older_than = hours::min();
    recover.limit = 0;
    CHECK(engine.recover(recover).done == 0);
    recover.limit = 1;
    recover.window = ~std::size_t{0};
    CHECK(engine.recover(recover).done == 1);
    recover.limit = ~std::size_t{0};
    CHECK(engine.recover(recover).done == 2);
    for (int i = 0; i < 3; ++i) {
        CHECK(engine.submit("w" + std::to_string(i), transfer{"A", "B", 1}).problem.empty());
    }
    settle::work_options work;
    work.limit = 0;
    CHECK(engine.work(work).done == 0);
    work.limit = ~std::size_t{0};
    work.window = ~std::size_t{0};
    CHECK(engine.work(work).done == 3);
}

TEST_CASE("limits: purge() and list() accept the least and the greatest options") {
    limited limited;
    auto engine = limited.opened();
    for (int i = 0; i < 5; ++i) CHECK(engine.run(transfer{"A", "B", 1}).done());
    limited.world.time += hours{24 * 31};
    settle::purge_options purge;
    for (hours const given : {hours::min(), hours{0}}) {
        purge.older_than = given;
        CHECK(engine.purge(purge).problem.code == settle::errc::too_young);
    }
    purge.older_than = hours::max();
    CHECK(engine.purge(purge).problem.empty());
    CHECK(engine.purge(purge).erased == 0);
    auto const listed = [&](hours older_than) {
        return ranges::distance(engine.list(state::done, older_than));
    };
    CHECK(listed(hours::max()) == 0);
    CHECK(listed(hours{1}) == 5);
    CHECK(listed(hours::min()) == 5);
    purge = {};
    purge.step = 0;
    purge.limit = 2;
    CHECK(engine.purge(purge).erased == 2);
    purge.step = ~std::size_t{0};
    purge.limit = ~std::size_t{0};
    CHECK(engine.purge(purge).erased == 3);
}

TEST_CASE("limits: a purge keeps what a program with longer limits may need") {
    limited limited;
    auto engine = limited.opened();
    CHECK(engine.run("x", transfer{"A", "B", 1}).done());
    settle::options hasty;
    hasty.lifetime = hours{1};
    hasty.resubmission = hasty.clocks = hours{0};
    auto other = limited.engine(hasty);
    limited.world.time += hours{3};
    settle::purge_options purge;
    purge.older_than = hours{2};
    auto const refused = other.purge(purge);
    CHECK(refused.erased == 0);
    CHECK(refused.problem.code == settle::errc::too_young);
    CHECK(refused.problem.text.find("older than 193 h") != std::string::npos);
    CHECK(engine.run("x", transfer{"A", "B", 1}).done());
    CHECK(engine.at(accounts, "B").balance == 1);
    purge.older_than = hours{24 * 9};
    limited.world.time += hours{24 * 9};
    CHECK(other.purge(purge).erased == 1);
}

TEST_CASE("limits: a recovery schedule accepts an infinite interval and refuses 0") {
    settle::memory::database database;
    settle::engine engine{database, settle::type<transfer_type>};
    for (hours const limit : {hours{0}, hours{-1}, hours::min()}) {
        settle::recovery_schedule schedule;
        schedule.every = limit;
        CHECK_THROWS_WITH_AS((settle::recovery_thread{engine, schedule}),
                             doctest::Contains("settle: recovery_schedule::every is "),
                             settle::failure);
    }
    settle::recovery_schedule schedule;
    schedule.every = hours::max();
    schedule.older_than = hours::max();
    schedule.sweep_every = std::numeric_limits<std::uint32_t>::max();
    std::promise<void> first;
    int rounds = 0;
    schedule.report = [&](settle::recovery_report const& recovered, settle::sweep_report const&) {
        CHECK(recovered.problem.empty());
        if (++rounds == 1) first.set_value();
    };
    {
        settle::recovery_thread const keeper{engine, schedule};
        CHECK(first.get_future().wait_for(10s) == std::future_status::ready);
        std::this_thread::sleep_for(20ms);
    }
    CHECK(rounds == 1);
}

} // namespace
} // namespace engine_test
