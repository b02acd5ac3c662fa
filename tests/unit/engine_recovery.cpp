// SPDX-License-Identifier: BSL-1.0
// Workers that stall, end or are gone: takeover, waiting calls, recovery and its report, sweeps.
#include "ended_process.hpp"
#include "engine_types.hpp"

#include <atomic>
#include <memory>
#include <thread>

namespace engine_test {

/// Entries that this bank's engine cannot handle.
struct rent {
    std::string tenant;
};

} // namespace engine_test
BOOST_HANA_ADAPT_STRUCT(engine_test::rent, tenant);
namespace engine_test {
namespace {

using bank_engine =
    settle::engine<settle::memory::database, settle::type_tag<transfer_type>,
                   settle::environment_binding<manual_environment>, settle::observer_binding<hook>>;

/// A database with two workers, as two processes would be, and a clock that a test moves.
struct two_workers {
    settle::memory::database database;
    world_state world;
    std::function<void(settle::event const&)> watch;
    std::function<void(settle::event const&)> watch_other;
    bank_engine engine{database, settle::type<transfer_type>,
                       settle::with_environment(manual_environment{world}),
                       settle::observed_by(hook{watch})};
    bank_engine other{database, settle::type<transfer_type>,
                      settle::with_environment(manual_environment{world}),
                      settle::observed_by(hook{watch_other})};

    two_workers() { open_accounts(engine, {{"A", 100}, {"B", 0}}); }

    void check(std::int64_t a, std::int64_t b) {
        CHECK(balance_of(engine, "A") == a);
        CHECK(balance_of(engine, "B") == b);
        CHECK(marks_in(engine) == 0);
    }
    /// Leaves the entry and marks of a worker that is killed right after a step.
    void leave(std::string const& id, settle::step last, std::int64_t amount = 30) {
        watch_other = kill_after(last);
        CHECK_THROWS_AS(std::ignore = other.run(id, transfer{"A", "B", amount}), killed);
        watch_other = nullptr;
    }
    void plant_transfer(std::string const& id, std::string const& owner) {
        plant<transfer_direction>(database, id, transfer{"A", "B", 30}, owner, world.time);
    }
};

TEST_CASE("recovery: a worker may end after any step") {
    for (settle::step const last : {settle::step::insert, settle::step::apply, settle::step::commit,
                                    settle::step::confirm, settle::step::close}) {
        CAPTURE(settle::name_of(last));
        two_workers b;
        b.leave("t", last);
        bool const closed = last == settle::step::close;
        // Its owner is this live process, so only time shows that it stands still.
        b.world.time += std::chrono::minutes{30} - std::chrono::milliseconds{1};
        CHECK(b.engine.recover().done == 0);
        b.world.time += std::chrono::milliseconds{1};
        auto const report = b.engine.recover();
        CHECK(report.done == (closed ? 0 : 1));
        CHECK(report.canceled + report.undecided + report.elsewhere == 0);
        CHECK(report.skipped.empty());
        b.check(70, 30);
        CHECK(entry_of(b.engine, "t").state == state::done);
        CHECK(b.engine.recover(of_any_age()).done == 0);
    }
}

TEST_CASE("recovery: a cancel that was begun is finished with its reason") {
    for (settle::step const last : {settle::step::cancel, settle::step::compensate}) {
        two_workers b;
        b.leave("t", last, 101);
        CHECK(entry_of(b.engine, "t").state == state::canceling);
        auto const report = b.engine.recover(of_any_age());
        CHECK(report.canceled == 1);
        b.check(100, 0);
        auto const kept = entry_of(b.engine, "t");
        CHECK(kept.why == reason::guard_failed);
        CHECK(kept.participant == "source");
        auto const outcome = b.engine.run("t", transfer{"A", "B", 101});
        CHECK(outcome.why == reason::guard_failed);
        CHECK(outcome.participant == "source");
    }
}

TEST_CASE("recovery: an expired entry is canceled, unless it was committed") {
    two_workers b;
    b.leave("applied", settle::step::apply);
    b.leave("committed", settle::step::commit, 5);
    b.world.time += b.engine.limits().lifetime + std::chrono::milliseconds{1};
    auto const report = b.engine.recover();
    CHECK(report.done == 1);
    CHECK(report.canceled == 1);
    CHECK(entry_of(b.engine, "applied").why == reason::expired);
    b.check(95, 5);
}

TEST_CASE("recovery: entries of a dead process are claimed at once") {
    std::string const gone = ended_process::owner();
    ended_process::child alive;
    two_workers b;
    b.plant_transfer("gone", gone);
    b.plant_transfer("alive", alive.owner());
    auto const report = b.engine.recover();
    CHECK(report.done == 1);
    CHECK(entry_of(b.engine, "gone").owner == b.engine.owner());
    CHECK(entry_of(b.engine, "alive").state == state::pending);
    b.check(70, 30);
    alive.end();
    CHECK(b.engine.recover().done == 1);
    b.check(40, 60);
}

TEST_CASE("recovery: a caller takes over from a dead process at once, else after takeover") {
    two_workers b;
    SUBCASE("the owner is dead") {
        b.plant_transfer("t", ended_process::owner());
        CHECK(b.engine.run("t", transfer{"A", "B", 30}).done());
        CHECK(b.world.pauses == 0);
    }
    SUBCASE("the owner is alive and stuck") {
        ended_process::child stuck;
        b.plant_transfer("t", stuck.owner());
        CHECK(b.engine.run("t", transfer{"A", "B", 30}).done());
        CHECK(b.world.elapsed >= b.engine.limits().takeover);
        CHECK(b.world.elapsed < b.engine.limits().takeover + std::chrono::seconds{1});
    }
    SUBCASE("the owner is another call of this process") {
        b.leave("t", settle::step::apply);
        CHECK(b.engine.run("t", transfer{"A", "B", 30}).done());
        CHECK(b.world.elapsed >= b.engine.limits().takeover);
    }
    SUBCASE("the owner is stuck in a cancel") {
        b.leave("t", settle::step::apply);
        b.watch_other = kill_after(settle::step::cancel);
        CHECK_THROWS_AS(std::ignore = b.other.cancel("t"), killed);
        CHECK(b.engine.cancel("t").why == reason::cancel_asked);
        CHECK(b.world.elapsed >= b.engine.limits().takeover);
        b.check(100, 0);
        return;
    }
    CHECK(entry_of(b.engine, "t").attempts == 1);
    b.check(70, 30);
}

TEST_CASE("recovery: a moving entry does not stand still") {
    two_workers b;
    b.leave("t", settle::step::insert);
    // Another worker claims it and is killed, four times, every three seconds.
    int claims = 0;
    auto next = std::chrono::nanoseconds{std::chrono::seconds{3}};
    std::chrono::nanoseconds last{0};
    b.world.while_pausing = [&] {
        if (claims == 4 || b.world.elapsed < next) return;
        next += std::chrono::seconds{3};
        last = b.world.elapsed;
        ++claims;
        b.watch_other = kill_after(settle::step::claim);
        CHECK_THROWS_AS(b.other.recover(of_any_age()), killed);
    };
    CHECK(b.engine.run("t", transfer{"A", "B", 30}).done());
    CHECK(claims == 4);
    CHECK(b.world.elapsed >= last + b.engine.limits().takeover);
    b.check(70, 30);
}

TEST_CASE("recovery: a deadline ends a waiting call as undecided") {
    two_workers b;
    b.leave("t", settle::step::apply);
    settle::call_options call;
    SUBCASE("the deadline counts from the call") {
        call.deadline = std::chrono::seconds{2};
        auto const outcome = b.engine.run("t", transfer{"A", "B", 30}, call);
        CHECK(outcome.verdict == verdict::undecided);
        CHECK(outcome.id == "t");
        CHECK(outcome.problem.code == settle::errc::stopped);
        CHECK(b.world.elapsed == std::chrono::seconds{2});
    }
    SUBCASE("a slow store uses up the deadline") {
        call.deadline = std::chrono::seconds{2};
        b.watch = [&](settle::event const&) { b.world.elapsed += std::chrono::seconds{2}; };
        CHECK(b.engine.run("t", transfer{"A", "B", 30}, call).verdict == verdict::undecided);
        CHECK(b.world.pauses == 0);
    }
    SUBCASE("a transaction without conflicts needs no time") {
        call.deadline = std::chrono::milliseconds{1};
        CHECK(b.engine.run("u", transfer{"A", "B", 0}, call).done());
        CHECK(b.world.pauses == 0);
    }
    SUBCASE("the deadline ends cancel()") {
        b.watch_other = kill_after(settle::step::commit);
        CHECK_THROWS_AS(b.other.recover(of_any_age()), killed);
        settle::cancel_options options;
        options.deadline = std::chrono::seconds{1};
        auto const outcome = b.engine.cancel("t", options);
        CHECK(outcome.done());
        CHECK_FALSE(outcome.finished);
        CHECK(b.world.elapsed == std::chrono::seconds{1});
        return;
    }
    SUBCASE("the deadline is infinite") {
        call.deadline = std::chrono::milliseconds::max();
        CHECK(b.engine.run("t", transfer{"A", "B", 30}, call).done());
        return;
    }
    CHECK(entry_of(b.engine, "t").state == state::pending);
    CHECK(b.engine.recover(of_any_age()).done == 1);
    b.check(70, 30);
}

/// The system's environment. It tells that a call has begun to pause.
struct telling_environment : settle::system_environment {
    std::shared_ptr<std::atomic<bool>> pauses = std::make_shared<std::atomic<bool>>(false);

    void pause(std::chrono::nanoseconds duration, std::stop_token const& stop) const {
        pauses->store(true);
        pauses->notify_all();
        system_environment::pause(duration, stop);
    }
};

TEST_CASE("recovery: a stop request ends a waiting call at once") {
    settle::memory::database database;
    telling_environment const world;
    // A pause lasts half an hour or more, so that only the stop or the deadline can end the call.
    settle::options limits;
    limits.takeover = limits.patience = std::chrono::hours::max();
    limits.first_pause = limits.longest_pause = std::chrono::hours{1};
    settle::engine engine{database, settle::type<transfer_type>, limits,
                          settle::with_environment(world)};
    open_accounts(engine, {{"A", 100}, {"B", 0}});
    ended_process::child stuck;
    plant<transfer_direction>(database, "t", transfer{"A", "B", 30}, stuck.owner(), world.now());
    std::stop_source source;
    settle::call_options call{{}, source.get_token()};
    SUBCASE("the stop is requested during the wait") {
        std::jthread const stopper{[&] {
            world.pauses->wait(false);
            source.request_stop();
        }};
        CHECK(engine.run("t", transfer{"A", "B", 30}, call).problem.code == settle::errc::stopped);
    }
    SUBCASE("the stop is requested before the call") {
        source.request_stop();
        CHECK(engine.run("t", transfer{"A", "B", 30}, call).verdict == verdict::undecided);
        settle::recover_options options = of_any_age();
        options.stop = source.get_token();
        CHECK(engine.recover(options).done == 0);
        settle::work_options work;
        work.stop = source.get_token();
        CHECK(engine.submit("u", transfer{"A", "B", 1}).problem.empty());
        CHECK(engine.work(work).done == 0);
    }
    SUBCASE("the deadline of a real clock passes") {
        call.deadline = std::chrono::milliseconds{30};
        auto const begun = std::chrono::steady_clock::now();
        CHECK(engine.run("t", transfer{"A", "B", 30}, call).verdict == verdict::undecided);
        CHECK(std::chrono::steady_clock::now() - begun >= std::chrono::milliseconds{30});
    }
    CHECK(entry_of(engine, "t").state == state::pending);
}

TEST_CASE("recovery: a stalled worker repeats no effect when it wakes") {
    // The tutorial's own programs end this story wrong: one worker stalls, the other does all the
    // work.
    two_workers b;
    SUBCASE("it stalls before it applies") {
        b.watch = [&](settle::event const& seen) {
            if (seen.taken != settle::step::insert) return;
            b.watch = nullptr;
            CHECK(b.other.recover(of_any_age()).done == 1);
        };
    }
    SUBCASE("it stalls after it applies") {
        b.watch = [&](settle::event const& seen) {
            if (seen.taken != settle::step::apply) return;
            b.watch = nullptr;
            CHECK(b.other.recover(of_any_age()).done == 1);
        };
    }
    SUBCASE("it stalls after the commit") {
        b.watch = [&](settle::event const& seen) {
            if (seen.taken != settle::step::commit) return;
            b.watch = nullptr;
            CHECK(b.other.recover(of_any_age()).done == 1);
        };
    }
    SUBCASE("it wakes while the other worker runs") {
        b.watch = [&](settle::event const& seen) {
            if (seen.taken != settle::step::insert) return;
            b.watch = nullptr;
            b.watch_other = kill_after(settle::step::apply);
            CHECK_THROWS_AS(b.other.recover(of_any_age()), killed);
        };
    }
    CHECK(b.engine.run("t", transfer{"A", "B", 30}).done());
    b.check(70, 30);
}

TEST_CASE("recovery: a stalled worker that wakes after a cancel undoes its writes") {
    two_workers b;
    b.watch = [&](settle::event const& seen) {
        if (seen.taken != settle::step::insert) return;
        b.watch = nullptr;
        CHECK(b.other.cancel("t").canceled());
    };
    auto const outcome = b.engine.run("t", transfer{"A", "B", 30});
    CHECK(outcome.why == reason::cancel_asked);
    b.check(100, 0);
}

/// A type that this engine does not have; its name or its hash may be those of `transfer`.
template <typename Parameters, settle::fixed_string Name, bool SameHash>
struct foreign {
    using parameters = Parameters;
    static std::string const& name() {
        static std::string const text{Name.view()};
        return text;
    }
    static std::uint64_t definition() { return SameHash ? transfer_direction::definition() : 1; }
    static constexpr std::size_t participant_count = 0;
    template <typename Function>
    static void for_each_participant(Function&&) {}
    template <std::size_t>
    static std::size_t lines(Parameters const&) {
        return 0;
    }
    static Parameters const& user(Parameters const& parameters) { return parameters; }
    static settle::part_name name_part(Parameters const&, std::size_t) { return {}; }
    static settle::refusal check(Parameters const&) { return {}; }
    static std::string explain(Parameters const&, settle::refusal const&) { return {}; }
};

TEST_CASE("recovery: an entry that cannot be handled is reported and stops no other") {
    two_workers b;
    std::string const gone = ended_process::owner();
    plant<foreign<rent, "rent", false>>(b.database, "a unknown", {"T"}, gone, b.world.time);
    plant<foreign<transfer, "transfer", false>>(b.database, "b other", {"A", "B", 1}, gone,
                                                b.world.time);
    plant<foreign<rent, "transfer", true>>(b.database, "c damaged", {"T"}, gone, b.world.time);
    plant<foreign<transfer, "transfer", true>>(b.database, "d negative", {"A", "B", -1}, gone,
                                               b.world.time);
    b.plant_transfer("e good", gone);

    auto const report = b.engine.recover();
    CHECK(report.done == 1);
    CHECK(report.problem.empty());
    REQUIRE(report.skipped.size() == 4);
    CHECK(report.skipped[0].id == "a unknown");
    CHECK(report.skipped[0].problem.code == settle::errc::unknown_type);
    CHECK(report.skipped[1].id == "b other");
    CHECK(report.skipped[1].problem.code == settle::errc::other_definition);
    CHECK(report.skipped[2].id == "c damaged");
    CHECK(report.skipped[2].problem.code == settle::errc::damaged);
    CHECK(report.skipped[3].id == "d negative");
    for (auto const& skipped : report.skipped) {
        CAPTURE(skipped.problem.message());
        CHECK(skipped.problem.message().find(". See ") != std::string::npos);
        CHECK(b.engine.cancel(skipped.id).verdict == verdict::refused);
        CHECK(entry_of(b.engine, skipped.id).state == state::pending);
    }
    // The sentences name the entry and the type.
    CHECK(report.skipped[0].problem.message().find("'a unknown'") != std::string::npos);
    CHECK(report.skipped[0].problem.message().find("'rent'") != std::string::npos);
    b.check(70, 30);

    // A final entry gives its outcome without its definition.
    plant<foreign<rent, "rent", false>>(b.database, "f over", {"T"}, gone, b.world.time,
                                        settle::state::canceled);
    CHECK(b.engine.cancel("f over").why == reason::mark_without_entry);

    // A caller with the id of such an entry gets the same error.
    CHECK(b.engine.run("a unknown", transfer{"A", "B", 1}).problem.code == settle::errc::id_in_use);
    CHECK(b.engine.run("b other", transfer{"A", "B", 1}).problem.code ==
          settle::errc::other_definition);
}

TEST_CASE("recovery: many entries are claimed page by page, up to the limit") {
    two_workers b;
    std::string const gone = ended_process::owner();
    for (int i = 0; i < 600; ++i) {
        plant<transfer_direction>(b.database, std::to_string(i), transfer{"A", "B", 0}, gone,
                                  b.world.time);
    }
    settle::recover_options options;
    options.limit = 257;
    CHECK(b.engine.recover(options).done == 257);
    CHECK(b.engine.recover().done == 343);
    CHECK(b.engine.recover().done == 0);
}

TEST_CASE("recovery: skipped entries do not count towards the limit") {
    two_workers b;
    std::string const gone = ended_process::owner();
    for (int i = 0; i < 30; ++i) {
        plant<foreign<rent, "rent", false>>(b.database, "a" + std::to_string(i), {"T"}, gone,
                                            b.world.time);
    }
    for (int i = 0; i < 5; ++i) {
        plant<transfer_direction>(b.database, "b" + std::to_string(i), transfer{"A", "B", 0}, gone,
                                  b.world.time);
    }
    settle::recover_options options;
    options.limit = 2;
    for (std::size_t const left : {2U, 2U, 1U, 0U}) {
        auto const report = b.engine.recover(options);
        CHECK(report.done == left);
        // After its limit, recovery reads no further entry.
        CHECK(report.skipped.size() == 30);
    }
    for (int i = 0; i < 3; ++i) {
        std::string const id = std::to_string(i);
        CHECK(b.engine.submit("b" + id + " too", transfer{"A", "B", 1}).problem.empty());
        plant<foreign<rent, "rent", false>>(b.database, "a" + id + " too", {"T"}, gone,
                                            b.world.time, settle::state::initial);
    }
    settle::work_options some;
    some.limit = 1;
    for (int i = 0; i < 3; ++i) CHECK(b.engine.work(some).done == 1);
    CHECK(b.engine.work(some).done == 0);
}

/// A write that its worker sent long ago and that arrives only now.
void arrive_late(settle::memory::database& database, std::string const& id, settle::epoch under,
                 std::int64_t amount = 30) {
    auto session = database.bind<std::remove_cvref_t<decltype(accounts)>>(database.name());
    settle::testing::part_wave wave{settle::step::apply};
    wave.add<transfer_direction>(id, {"A", "B", amount}, under);
    wave.send(session);
    REQUIRE(wave.answers(0) == "applied, applied");
}

TEST_CASE("recovery: a sweep undoes stray marks and no others") {
    two_workers b;
    SUBCASE("the entry is done") {
        REQUIRE(b.engine.run("t", transfer{"A", "B", 30}).done());
        arrive_late(b.database, "t", entry_of(b.engine, "t").committed - 1);
        CHECK(balance_of(b.engine, "A") == 40);
        auto const report = b.engine.sweep();
        CHECK(report.looked_at == 2);
        CHECK(report.undone == 2);
        CHECK(report.tombstones == 0);
        b.check(70, 30);
    }
    SUBCASE("the entry is canceled") {
        CHECK(b.engine.submit("t", transfer{"A", "B", 30}).problem.empty());
        CHECK(b.engine.cancel("t").canceled());
        arrive_late(b.database, "t", 7);
        CHECK(b.engine.sweep().undone == 2);
        b.check(100, 0);
    }
    SUBCASE("no entry exists, and the id never runs again") {
        arrive_late(b.database, "t", 7);
        auto const report = b.engine.sweep();
        CHECK(report.tombstones == 1);
        CHECK(report.undone == 2);
        b.check(100, 0);
        auto const outcome = b.engine.run("t", transfer{"A", "B", 30});
        CHECK(outcome.canceled());
        CHECK(outcome.why == reason::mark_without_entry);
        b.check(100, 0);
    }
    SUBCASE("marks of an unfinished entry stay") {
        b.leave("t", settle::step::apply);
        b.leave("u", settle::step::commit);
        auto const report = b.engine.sweep();
        CHECK(report.looked_at == 4);
        CHECK(report.undone == 0);
        CHECK(marks_in(b.engine) == 4);
        CHECK(b.engine.recover(of_any_age()).done == 2);
        b.check(40, 60);
    }
    SUBCASE("a stop request ends the sweep") {
        arrive_late(b.database, "t", 7);
        std::stop_source source;
        source.request_stop();
        CHECK(b.engine.sweep(source.get_token()).looked_at == 0);
        CHECK(marks_in(b.engine) == 2);
    }
    SUBCASE("many marks are visited page by page") {
        for (int i = 0; i < 300; ++i) arrive_late(b.database, std::to_string(i), 7, 0);
        auto const report = b.engine.sweep();
        CHECK(report.looked_at == 600);
        CHECK(report.undone == 600);
        CHECK(report.tombstones == 300);
        b.check(100, 0);
    }
}

} // namespace
} // namespace engine_test
