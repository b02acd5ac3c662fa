// SPDX-License-Identifier: BSL-1.0
// The store suite: calls of the engine outside of transactions, while the store cannot be reached.
#pragma once

#include <settle/testing/store_suite/time_cases.hpp>

#include <set>

#if defined(DOCTEST_LIBRARY_INCLUDED)
SETTLE_BEGIN
namespace testing {

/// The sorted ids of records or entries, each as often as it was seen.
template <typename Range>
[[nodiscard]] std::multiset<std::string> ids_in(Range&& range) {
    std::multiset<std::string> ids;
    for (auto const& one : range) ids.insert(one.id);
    return ids;
}

TEST_CASE_TEMPLATE_DEFINE("engine: a call outside of transactions tries again until it is answered",
                          Fixture, suite_patience) {
    Fixture fixture;
    auto& database = fixture.database_here();
    manual_environment const world;
    auto plain = engine_at(database, world);
    // More records than a page of a listing has.
    std::vector<ledger> many;
    for (int i = 1000; i < 1600; ++i) many.push_back({std::to_string(i), 1, 0, ""});
    CHECK(plain.create_all(ledgers, many).created == many.size());
    CHECK(plain.create(ledgers, {"A", 100, 0, ""}).has_value());
    CHECK(plain.create(ledgers, {"B", 0, 0, ""}).has_value());
    CHECK(plain.create(ledgers, {"C", 50, 0, ""}).has_value());
    CHECK(plain.run("done", move{"A", "B", 1}).done());
    CHECK(plain.run("canceled", move{"A", "B", 1000}).canceled());
    CHECK(plain.submit("submitted", move{"A", "B", 2}).problem.empty());
    leave(database, world, "pending", "apply");
    // A mark without an entry.
    auto session = database.template bind<ledgers_type>(database.bind_log().name());
    part_wave stray{step::apply};
    stray.add<forward<adjust_type>>("stray", {"C", 1, 0, 0, 0, no_least, no_most}, 5);
    stray.send(session);
    REQUIRE(stray.answers(0) == "applied");

    faulty fragile{database};
    std::map<std::string_view, int> lost; ///< by the kind of the call
    std::map<std::string_view, int> most; ///< that the plan loses in a row
    fragile.plan([&](call const& current) {
        bool const loses = lost[current.what] < most[current.what];
        lost[current.what] = loses ? lost[current.what] + 1 : 0;
        return fault{loses ? fault_kind::unavailable : fault_kind::none};
    });
    auto engine = engine_at(fragile, world);
    for (auto const* const kind : {"read", "list", "scan", "marks", "purge", "resolve"}) {
        most[kind] = 2;
    }

    CHECK(engine.find("done").value()->state == state::done);
    CHECK(engine.page({}, {}, 10).value().size() == 4);
    CHECK(ids_in(engine.list()) == ids_in(plain.list()));
    world.advance(std::chrono::hours{1});
    CHECK(ids_in(engine.stuck().value()) == std::multiset<std::string>{"pending"});
    CHECK(engine.stuck(std::chrono::minutes{1}).value().size() == 1);
    CHECK(engine.read(ledgers, "A").value()->balance == 89);
    CHECK(engine.at(ledgers, "B").balance == 1);
    auto const scanned = ids_in(engine.scan(ledgers));
    CHECK(scanned.size() == many.size() + 3);
    CHECK(scanned == ids_in(plain.scan(ledgers)));
    CHECK(engine.template scan_page<ledgers_type>(std::nullopt, 5).value().size() == 5);
    CHECK(engine.marks().value() == 3);
    // A call for a transaction begins with a read of its entry.
    CHECK(engine.cancel("done").done());
    CHECK(engine.retry("canceled").canceled());
    CHECK(engine.reverse("canceled").problem.code == errc::not_reversible);
    CHECK(engine.reverse("done").done());
    auto const swept = engine.sweep();
    CHECK(swept.problem.empty());
    CHECK(swept.looked_at == 3);
    CHECK(swept.undone == 1);
    CHECK(swept.tombstones == 1);
    CHECK(engine.recover().done == 1);
    CHECK(engine.work().done == 1);
    world.advance(std::chrono::hours{24 * 100});
    auto const purged = engine.purge();
    CHECK(purged.problem.empty());
    CHECK(purged.erased == 6);
    CHECK(engine.marks().value() == 0);

    // Without an answer, a call ends at its limit with the error of the store.
    for (auto& [kind, count] : most) count = std::numeric_limits<int>::max();
    auto const took = [&](auto&& function) {
        auto const began = world.elapsed();
        auto const answer = function();
        REQUIRE_FALSE(answer.has_value());
        CHECK(answer.problem().code == errc::store_unreachable);
        return world.elapsed() - began;
    };
    std::chrono::nanoseconds const patience = std::chrono::milliseconds{engine.limits().patience};
    call_options hurried;
    hurried.deadline = std::chrono::milliseconds{100};
    CHECK(took([&] { return engine.read(ledgers, "A"); }) >= patience);
    CHECK(took([&] { return engine.marks(); }) < 2 * patience);
    for (auto const spent : {took([&] { return engine.read(ledgers, "A", hurried); }),
                             took([&] { return engine.find("done", hurried); }),
                             took([&] { return engine.page({}, {}, 5, hurried); }),
                             took([&] { return engine.stuck(hurried); }),
                             took([&] { return engine.marks(hurried); })}) {
        CHECK(spent == std::chrono::milliseconds{100});
    }
    CHECK_THROWS_AS(std::ignore = engine.at(ledgers, "A", hurried), failure);
    std::stop_source stop;
    int calls = 0;
    fragile.plan([&](call const&) {
        if (++calls == 3) stop.request_stop();
        return fault{fault_kind::unavailable};
    });
    call_options stopped;
    stopped.stop = stop.get_token();
    CHECK(engine.read(ledgers, "A", stopped).problem().code == errc::store_unreachable);
    CHECK(calls == 3);
    CHECK(engine.read(ledgers, "A", stopped).problem().code == errc::stopped);
    CHECK(calls == 3);
}

} // namespace testing
SETTLE_END
#endif
