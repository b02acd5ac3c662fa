// SPDX-License-Identifier: BSL-1.0
// How often, and after which pauses, the calls of a stage are tried.
#include "order_office.hpp"

namespace tries_test {

using namespace order_test;

TEST_CASE("tries: the tries of a stage do not count for the next stage") {
    office office;
    // Each stage needs more than half of the ten tries of options::call_attempts.
    auto engine = office.make(call_operation::apply, 6);
    auto const outcome = engine.run("t1", usual, patient());
    CHECK_MESSAGE(outcome.done(), outcome.text());
    CHECK(office.calls["goods"].size() == 7);
    CHECK(office.calls["parcel"].size() == 7);
}

TEST_CASE("tries: a call that has no try left cancels, with the tries of its own stage") {
    office office;
    auto engine = office.make(call_operation::apply, 1000);
    CHECK(engine.run("t1", usual, patient()).canceled());
    CHECK(office.calls["goods"].size() == 10);
    CHECK(office.calls["parcel"].empty());
}

TEST_CASE("tries: a pause is at least half of the participant's, and at most its longest") {
    office office;
    auto engine = office.make(call_operation::apply, 8);
    CHECK(engine.run("t1", usual, patient()).done());
    auto const& times = office.calls["goods"];
    REQUIRE(times.size() == 9);
    auto expected = 40ms;
    for (std::size_t next = 1; next < times.size(); ++next) {
        auto const pause = times[next] - times[next - 1];
        CHECK(pause >= expected / 2);
        CHECK(pause <= expected + 1ms);
        expected = std::min(2 * expected, std::chrono::milliseconds{160});
    }
}

TEST_CASE("tries: the pauses of a stage begin anew after an earlier stage") {
    office office;
    auto engine = office.make(call_operation::apply, 6);
    CHECK(engine.run("t1", usual, patient()).done());
    auto const& times = office.calls["parcel"];
    REQUIRE(times.size() == 7);
    settle::options const usual_limits;
    CHECK(times[1] - times[0] <= usual_limits.call_first_pause + 1ms);
}

TEST_CASE("tries: a call that its client did not send is no try, and its sentence says so") {
    office office;
    std::size_t calls = 0;
    office.services.before = [&](service_call const&) -> std::optional<service_answer> {
        if (++calls > 30) return std::nullopt;
        return service_answer::unsent("its own limit");
    };
    auto engine = office.make();
    CHECK(engine.run("t1", usual, {{1s}, {}}).problem.text ==
          "settle: the service 'shop' was not asked for the apply of 'goods': its own limit. See "
          "errors#errors");
    CHECK(engine.run("t1", usual, patient()).done());
    CHECK(calls == 32);
}

TEST_CASE("tries: a deadline or a stop request ends a transaction before its next calls") {
    for (bool const has_deadline : {true, false}) {
        CAPTURE(has_deadline);
        office office;
        std::stop_source stop;
        std::vector<std::string> called;
        office.services.before = [&](service_call const& call) -> std::optional<service_answer> {
            called.emplace_back(call.participant);
            office.world.elapsed += 20s;
            if (!has_deadline) stop.request_stop();
            return std::nullopt;
        };
        settle::call_options limits{{}, stop.get_token()};
        if (has_deadline) limits.deadline = 10s;
        auto engine = office.make();
        auto const ended = engine.run("t1", usual, limits);
        CHECK(ended.verdict == settle::verdict::undecided);
        CHECK(ended.problem.code == settle::errc::stopped);
        CHECK(called == std::vector<std::string>{"goods"});
        CHECK(engine.run("t1", usual, patient()).done());
        CHECK(called == std::vector<std::string>{"goods", "parcel"});
    }
}

TEST_CASE(
    "tries: tries count over calls of the engine and over workers, until the transaction cancels") {
    office office;
    std::size_t calls = 0;
    // A service that hangs: each call takes longer than its caller waits.
    office.services.before = [&](service_call const& call) -> std::optional<service_answer> {
        if (call.operation != call_operation::apply) return std::nullopt;
        ++calls;
        office.world.elapsed += 30s;
        office.world.time += 30s;
        return service_answer::unknown("no answer in 30 s");
    };
    auto observer = office.make();
    CHECK(observer.run("t1", usual, {{2s}, {}}).verdict == settle::verdict::undecided);
    CHECK(entry_of(observer, "t1").call_tries == 1);
    std::size_t rounds = 0;
    for (; !is_final(entry_of(observer, "t1").state); ++rounds) {
        REQUIRE(rounds < 10);
        CHECK(entry_of(observer, "t1").call_tries == calls);
        office.world.time += 1h;
        // Each worker is a process of its own.
        std::ignore = office.make().recover({.older_than = 10min});
    }
    CHECK(rounds > 2);
    CHECK(calls == 10);
    auto const ended = observer.run("t1", usual);
    CHECK(ended.canceled());
    CHECK(ended.why == settle::reason::unanswered);
}

TEST_CASE("tries: no worker asks a service before the time that it named") {
    office office;
    std::vector<std::string> calls;
    bool is_away = true;
    office.services.before = [&](service_call const& call) -> std::optional<service_answer> {
        calls.emplace_back(call.participant);
        if (!is_away) return std::nullopt;
        auto answer = service_answer::unavailable("full");
        answer.retry_after = 600s;
        return answer;
    };
    auto engine = office.make();
    auto const begun = office.world.time;
    CHECK(engine.run("t1", usual).verdict == settle::verdict::undecided);
    auto const named = begun + 600s;
    CHECK(entry_of(engine, "t1").next_try == named);
    CHECK(entry_of(engine, "t1").call_tries == 1);
    is_away = false;

    SUBCASE("recovery leaves the transaction until then") {
        office.world.time = named - 2min;
        auto const early = office.make().recover({.older_than = 0s});
        CHECK(early.young == 1);
        CHECK(calls.size() == 1);
        office.world.time = named;
        CHECK(office.make().recover({.older_than = 0s}).done == 1);
        CHECK(calls == std::vector<std::string>{"goods", "goods", "parcel"});
    }
    SUBCASE("recovery waits for it when it is near") {
        office.world.time = named - 10s;
        CHECK(office.make().recover({.older_than = 0s}).done == 1);
        CHECK(office.world.time >= named);
    }
    SUBCASE("a caller with its id ends at once when it would not wait as long") {
        office.world.time = named - 2min;
        auto const ended = engine.run("t1", usual, {{1min}, {}});
        CHECK(ended.problem.text ==
              "settle: the call's deadline, which comes before the next try, ended the call before "
              "the outcome was known. Ask again with the same id, or let recovery settle it. See "
              "running#undecided");
        // It has waited until the entry had no other owner.
        CHECK(office.world.elapsed < 6s);
        CHECK(calls.size() == 1);
    }
    SUBCASE("a time of a wrong clock is no reason to wait") {
        office.world.time = begun - 25h;
        CHECK(office.make().recover({.older_than = 0s}).canceled == 1);
    }
    SUBCASE("a transaction that is too old cancels at once") {
        settle::options short_lived;
        short_lived.lifetime = 1min;
        auto other = settle::engine{office.accounts_at,
                                    settle::bind(shop, office.services),
                                    settle::bind(courier, office.services),
                                    settle::type<order_type>,
                                    short_lived,
                                    settle::with_environment(manual_environment{office.world})};
        office.world.time = begun + 2min;
        CHECK(other.recover({.older_than = 0s}).canceled == 1);
    }
    SUBCASE("what was tried does not count once the next call is due") {
        CHECK(engine.retry("t1", {{1ms}, {}}).verdict != settle::verdict::refused);
        office.services.before = [](service_call const&) {
            return std::optional{service_answer::unsent("no turn")};
        };
        CHECK(calls.size() == 3);
        CHECK(entry_of(engine, "t1").next_try == settle::timestamp{});
        CHECK(entry_of(engine, "t1").call_tries == 0);
    }
    SUBCASE("a cancel by a person does not wait for it") {
        auto const elapsed = office.world.elapsed;
        CHECK(engine.cancel("t1").canceled());
        CHECK(office.world.elapsed == elapsed);
    }
}

/// The goods and the parcel are called side by side.
inline constexpr auto pair_type = settle::transaction<order, "pair">(
    settle::participant<"payer">(accounts, param<&order::customer>)
        .require(field<&account::balance> >= param<&order::price>)
        .apply(field<&account::balance> -= param<&order::price>)
        .compensate(settle::inverse),
    settle::together(settle::participant<"goods">(shop)
                         .apply(call(param<&order::customer>, param<&order::price>))
                         .compensate(call()),
                     settle::participant<"parcel">(courier)
                         .apply(call(param<&order::customer>, param<&order::price>))
                         .compensate(call())));

TEST_CASE("tries: a call of a stage has tries of its own") {
    office office;
    std::size_t goods = 0;
    std::size_t parcels = 0;
    std::size_t away = 9;       // the tries of the goods that fail
    std::size_t unsent = 9;     // the tries of the parcel that are not made
    std::size_t away_after = 0; // the tries of the parcel that fail then
    office.services.before = [&](service_call const& call) -> std::optional<service_answer> {
        if (call.operation != call_operation::apply) return std::nullopt;
        if (call.participant == "goods") {
            CHECK(call.tries == goods);
            return ++goods <= away ? std::optional{service_answer::unavailable("away")}
                                   : std::nullopt;
        }
        ++parcels;
        CHECK(call.tries == (parcels > unsent ? parcels - unsent - 1 : 0));
        if (parcels <= unsent) return service_answer::unsent("no turn");
        return parcels <= unsent + away_after ? std::optional{service_answer::unavailable("away")}
                                              : std::nullopt;
    };
    auto engine = office.make<pair_type>();
    SUBCASE("what a client does not send is no try, whatever the others do") {
        away_after = 9;
        CHECK(engine.run("t1", usual, patient()).done());
        CHECK(parcels == 19);
    }
    SUBCASE("a call that has failed too often cancels, and is named") {
        away = 1000;
        unsent = 1000;
        auto const ended = engine.run("t1", usual, patient());
        CHECK(ended.canceled());
        CHECK(goods == 10);
        CHECK(ended.text().find("goods") != std::string::npos);
        CHECK(ended.text().find("parcel") == std::string::npos);
    }
    SUBCASE("a call that was answered counts no more for the entry") {
        away = 5;
        unsent = 1000;
        CHECK(engine.run("t1", usual, {{5s}, {}}).verdict == settle::verdict::undecided);
        CHECK(entry_of(engine, "t1").call_tries == 0);
    }
}

TEST_CASE("tries: entries that wait for a service leave the window to others") {
    office office;
    bool is_away = true;
    std::chrono::nanoseconds last_done{};
    office.services.before = [&](service_call const& call) -> std::optional<service_answer> {
        if (is_away && call.transaction.starts_with("a"))
            return service_answer::unavailable("away");
        last_done = office.world.elapsed;
        return std::nullopt;
    };
    auto engine = office.make();
    for (int index = 0; index < 30; ++index) {
        auto const number = std::to_string(index);
        CHECK(engine.submit("a" + number, order{"A", 1}).problem.empty());
        if (index < 5) CHECK(engine.submit("b" + number, order{"A", 1}).problem.empty());
    }
    auto const report = engine.work({.window = 4});
    CHECK(report.done == 5);
    CHECK(report.undecided + report.canceled == 30);
    // Each of the others was tried, and the window did not wait for their pauses.
    CHECK(last_done < engine.limits().call_patience);
    is_away = false;
    office.world.time += 1h;
    CHECK(engine.recover({.older_than = 0s}).done == report.undecided);
}

TEST_CASE("tries: a worker that was overtaken stops, so that tries are counted once") {
    office office;
    std::size_t calls = 0;
    auto second = office.make();
    office.services.before = [&](service_call const& call) -> std::optional<service_answer> {
        if (call.operation != call_operation::apply) return std::nullopt;
        ++calls;
        if (calls == 2) {
            calls += 100; // the second worker's calls are counted apart
            CHECK(second.retry("t1", patient()).canceled());
            calls -= 100;
        }
        return service_answer::unavailable("away");
    };
    CHECK(office.make().run("t1", usual, patient()).canceled());
    // The entry had one try when the second worker claimed it.
    CHECK(calls == 11);
}

TEST_CASE("tries: a person's cancel does not wait for a service, also if it was asked before") {
    office office;
    auto engine = office.make();
    office.services.before = [](service_call const& call) -> std::optional<service_answer> {
        if (call.participant == "parcel" && call.operation == call_operation::apply)
            return service_answer::refused("no van");
        if (call.operation != call_operation::compensate) return std::nullopt;
        auto answer = service_answer::unavailable("full");
        answer.retry_after = 1h;
        return answer;
    };
    CHECK(engine.run("t1", usual, {{1min}, {}}).verdict == settle::verdict::undecided);
    CHECK(entry_of(engine, "t1").state == settle::state::canceling);
    CHECK(entry_of(engine, "t1").next_try > office.world.time + 30min);
    office.services.before = [](service_call const&) { return std::nullopt; };
    CHECK(engine.cancel("t1", {.deadline = 2min}).canceled());
}

TEST_CASE("tries: a compensation waits for its own next try, and for no other part's") {
    office office;
    std::vector<std::chrono::nanoseconds> goods;
    std::size_t parcels = 0;
    office.services.before = [&](service_call const& call) -> std::optional<service_answer> {
        if (call.operation == call_operation::apply) {
            if (call.participant == "goods") return std::nullopt;
            return service_answer::refused("no van");
        }
        if (call.participant == "goods") {
            goods.push_back(office.world.elapsed);
            if (goods.size() < 4) return service_answer::unavailable("away");
            return std::nullopt;
        }
        if (++parcels > 1) return std::nullopt;
        auto answer = service_answer::unavailable("full");
        answer.retry_after = 600s;
        return answer;
    };
    auto engine = office.make();
    auto const begun = office.world.time;
    auto const ended = engine.run("t1", usual, {{1min}, {}});
    CHECK(ended.verdict == settle::verdict::undecided);
    REQUIRE(goods.size() == 4);
    CHECK(goods[1] - goods[0] <= 41ms);
    CHECK(goods[3] - goods[0] <= 281ms);
    CHECK(parcels == 1);
    CHECK(balance_of(engine, "A") == 1000);
    // The entry keeps one time, the latest, so that no worker asks a service too early.
    auto const stored = entry_of(engine, "t1");
    CHECK(stored.next_try > begun + 599s);
    CHECK(stored.next_try < begun + 601s);
    office.world.time = stored.next_try;
    CHECK(office.make().recover({.older_than = 0s}).canceled == 1);
    CHECK(parcels == 2);
}

TEST_CASE("tries: a part whose pause ends during another part's long call is sent next") {
    office office;
    std::vector<std::chrono::nanoseconds> parcels;
    std::size_t goods = 0;
    office.services.before = [&](service_call const& call) -> std::optional<service_answer> {
        if (call.operation == call_operation::apply) {
            if (call.participant == "goods") return std::nullopt;
            return service_answer::refused("no van");
        }
        if (call.participant == "goods") {
            office.world.elapsed += 30s;
            if (++goods < 10) return service_answer::unknown("no answer in 30 s");
            return std::nullopt;
        }
        parcels.push_back(office.world.elapsed);
        if (parcels.size() > 1) return std::nullopt;
        auto answer = service_answer::unavailable("full");
        answer.retry_after = 60s;
        return answer;
    };
    auto engine = office.make();
    CHECK(engine.run("t1", usual, {{1h}, {}}).canceled());
    CHECK(goods == 10);
    REQUIRE(parcels.size() == 2);
    CHECK(parcels[1] - parcels[0] >= 60s);
    CHECK(parcels[1] - parcels[0] < 95s);
}

TEST_CASE("tries: a call that got no turn is no try, also beside a record that is given back") {
    office office;
    auto engine = office.make();
    office.services.before = [](service_call const& call) -> std::optional<service_answer> {
        if (call.participant == "parcel" && call.operation == call_operation::apply)
            return service_answer::refused("no van");
        if (call.operation == call_operation::compensate) return service_answer::unsent("no turn");
        return std::nullopt;
    };
    CHECK(engine.run("t1", usual, {{1s}, {}}).verdict == settle::verdict::undecided);
    CHECK(balance_of(engine, "A") == 1000);
    CHECK(entry_of(engine, "t1").call_tries == 0);
    CHECK(entry_of(engine, "t1").next_try == settle::timestamp{});
}

TEST_CASE("tries: a compensate that fails is made again at the time in the entry") {
    office office;
    auto engine = office.make(call_operation::compensate, 3);
    office.services.before = [&, away = office.services.before](service_call const& call) {
        if (call.operation == call_operation::apply && call.participant == "parcel") {
            return std::optional{service_answer::refused("no van")};
        }
        return away(call);
    };
    auto const first = engine.run("t1", usual, {{150ms}, {}});
    CHECK(first.verdict == settle::verdict::undecided);
    auto const tries = office.calls["parcel"].size();
    auto const stored = entry_of(engine, "t1");
    CHECK(stored.state == settle::state::canceling);
    CHECK(stored.call_tries == std::max(tries, office.calls["goods"].size()));
    REQUIRE(tries != 0);
    REQUIRE(stored.next_try > office.world.time);
    CHECK(office.make().recover({.older_than = 0s}).canceled == 1);
    CHECK(office.calls["parcel"].size() == 4);
    // The first try of the second worker comes after the pause of the first.
    CHECK(office.calls["parcel"][tries] >= office.calls["parcel"][tries - 1] + 10ms);
}

} // namespace tries_test
