// SPDX-License-Identifier: BSL-1.0
// Writes of unknown outcome that arrive after takeover, at every later moment; faults during the
// recovery itself.
#include "scene.hpp"

namespace settle_test {
namespace {

/// The oldest late write arrives just before call `moment`, counted over both workers.
struct late_story {
    std::size_t lost_at = 0;
    std::size_t moment = 0;
    bool ends_after = false; ///< the first worker ends at its next call

    /// The plan of both workers: the lost write, its late arrival, and the worker that ends.
    [[nodiscard]] fault_plan plan(fault_source& source, bool first_worker) const {
        return [*this, &source, first_worker](call const& call) {
            if (call.number == moment) source.deliver_one();
            if (call.number == lost_at) return fault{fault_kind::late};
            if (first_worker && ends_after && call.number == lost_at + 1) {
                return fault{fault_kind::crash_before};
            }
            return fault{};
        };
    }
};

/// False if no worker made the call that was to be lost.
template <typename Run>
bool play(late_story const& story, Run const& run, std::string const& before,
          std::string const& after, std::size_t& calls) {
    INFO("the write of call ", story.lost_at, " arrives before call ", story.moment,
         story.ends_after ? ", the worker ends and another takes over" : "");
    memory_database db;
    manual_environment const time{story.lost_at * 1000 + story.moment};
    auto plain = engine_on(db, time);
    open_records(plain);
    onlooker watch{db};
    faulty fragile{db};
    auto& source = fragile.source();
    std::vector<outcome> outcomes;
    auto const plan_for = [&](bool first_worker) {
        return [&, plan = story.plan(source, first_worker)](call const& call) {
            watch.look();
            return plan(call);
        };
    };
    {
        auto engine = engine_on(fragile, time);
        fragile.plan(plan_for(true));
        try {
            outcomes.push_back(run(engine));
        } catch (crash const&) {
        }
    }
    {
        time.advance(1s);
        auto engine = engine_on(fragile, time);
        fragile.plan(plan_for(false));
        CHECK(engine.recover(of_any_age()).problem.empty());
        CHECK(engine.sweep().problem.empty());
    }
    calls = fragile.calls();
    fragile.plan({});
    bool const arrived_before_the_end = source.late() == 0;
    source.deliver_late();
    if (!arrived_before_the_end) time.advance(1s);
    // A write that arrived during the recovery may need one more sweep, as in the next round.
    plain.recover(of_any_age());
    plain.sweep();
    check_settled(plain, outcomes);
    auto const entry = plain.find("t").value();
    bool const ran = entry && entry->state == settle::state::done;
    CHECK(snapshot(plain) == (ran ? after : before));
    if (entry && entry->state != settle::state::barred) CHECK(ran);
    return calls >= story.lost_at;
}

template <typename Run>
void every_late_write(Run const& run) {
    std::string before;
    std::string after;
    std::size_t usual_calls = 0;
    {
        memory_database db;
        manual_environment const time;
        auto plain = engine_on(db, time);
        open_records(plain);
        before = snapshot(plain);
        faulty fragile{db};
        auto engine = engine_on(fragile, time);
        REQUIRE(run(engine).done());
        usual_calls = fragile.calls();
        after = snapshot(plain);
    }
    for (bool const ends_after : {false, true}) {
        for (std::size_t lost_at = 1; lost_at <= usual_calls; ++lost_at) {
            std::size_t calls = lost_at + 1;
            // One moment after the last call: the write arrives when all workers have ended.
            for (std::size_t moment = lost_at + 1; moment <= calls + 1; ++moment) {
                REQUIRE(play({lost_at, moment, ends_after}, run, before, after, calls));
            }
        }
    }
}

/// The first worker ends at `ended`; the second, which recovers, is hit at `hit`; a third finishes.
template <typename Run>
void recovery_is_hit(Run const& run) {
    for (fault_kind const end : {fault_kind::crash_before, fault_kind::crash_after}) {
        for (fault_kind const kind : every_kind) {
            for (std::size_t ended = 1, hits = 1; hits != 0; ++ended) {
                hits = 0;
                for (std::size_t hit = 1;; ++hit) {
                    INFO("first worker: ", std::string{name_of(end)}, " at call ", ended,
                         "; second worker: ", std::string{name_of(kind)}, " at call ", hit);
                    memory_database db;
                    manual_environment const time{ended * 1000 + hit};
                    auto plain = engine_on(db, time);
                    open_records(plain);
                    std::string const before = snapshot(plain);
                    std::vector<outcome> outcomes;
                    faulty first{db};
                    first.plan(fault_at(ended, end));
                    try {
                        auto engine = engine_on(first, time);
                        outcomes.push_back(run(engine));
                    } catch (crash const&) {
                    }
                    if (first.calls() < ended) break;
                    time.advance(1s);
                    faulty second{db};
                    second.plan(fault_at(hit, kind));
                    try {
                        auto engine = engine_on(second, time);
                        engine.recover(of_any_age());
                        engine.sweep();
                    } catch (crash const&) {
                    }
                    if (second.calls() < hit) break;
                    ++hits;
                    time.advance(1s);
                    CHECK(plain.recover(of_any_age()).skipped.empty());
                    second.deliver_late();
                    plain.recover(of_any_age());
                    CHECK(plain.sweep().problem.empty());
                    check_settled(plain, outcomes);
                    auto const entry = plain.find("t").value();
                    bool const is_free = !entry || entry->state == settle::state::barred;
                    if (is_free) CHECK(snapshot(plain) == before);
                    else CHECK(entry->state == settle::state::done);
                }
            }
        }
    }
}

/// Any number of faults of every kind, in every worker, until they have all had their turn.
void by_chance(std::uint64_t seed) {
    INFO("seed ", seed);
    memory_database db;
    manual_environment const time{seed};
    auto plain = engine_on(db, time);
    open_records(plain);
    onlooker watch{db};
    faulty fragile{db};
    auto& source = fragile.source();
    std::mt19937_64 chance{seed};
    auto const faults = random_faults(
        seed, 5 + seed % 25, std::vector<fault_kind>(std::begin(every_kind), std::end(every_kind)));
    std::vector<outcome> outcomes;
    auto const plan = [&](call const& call) {
        watch.look();
        if (chance() % 10 == 0) source.deliver_one();
        return faults(call);
    };
    auto const worker = [&](auto const& act) {
        auto engine = engine_on(fragile, time);
        fragile.plan(plan);
        try {
            act(engine);
        } catch (crash const&) {
        }
        fragile.plan({});
        time.advance(std::chrono::milliseconds{chance() % 300});
    };
    auto const number = [&](std::int64_t most) {
        return static_cast<std::int64_t>(chance() % static_cast<std::uint64_t>(most));
    };
    auto const account = [&] { return std::string(1, static_cast<char>('A' + number(3))); };
    for (int turn = 0; turn < 12; ++turn) {
        std::string const id = "t" + std::to_string(turn);
        worker([&](auto& engine) {
            switch (chance() % 9) {
            case 0:
            case 1:
                outcomes.push_back(engine.run(id, move{account(), account(), number(80)}));
                break;
            case 2:
                outcomes.push_back(engine.run(
                    id, order{account(), number(40), {{1, number(5)}, {2, 1}, {1, number(5)}}}));
                break;
            case 3: outcomes.push_back(engine.run(id, rewrite{first_card(), second_card()})); break;
            case 4: outcomes.push_back(engine.run(id, issue{new_card()})); break;
            case 5: outcomes.push_back(engine.run(id, withdraw{"d", false})); break;
            case 6:
                outcomes.push_back(engine.cancel("t" + std::to_string(number(turn + 1))));
                break;
            case 7: engine.recover(of_any_age()); break;
            default: engine.sweep(); break;
            }
        });
    }
    source.deliver_late();
    time.advance(1s);
    CHECK(plain.recover(of_any_age()).skipped.empty());
    CHECK(plain.sweep().problem.empty());
    check_settled(plain, outcomes);
    std::int64_t paid = 0;
    for (settle::entry const& one : plain.page({}, "", 100).value()) {
        if (one.state != settle::state::done || one.type != "suite_order") continue;
        paid += settle::decode_json<order>(one.parameters).value().price;
    }
    std::int64_t sum = 0;
    for (auto const& one : plain.scan_page<ledgers_type>(std::nullopt, 100).value()) {
        sum += one.balance;
    }
    CHECK(sum == opening_sum - paid);
}

} // namespace

TEST_CASE("late: every write of a transfer lands at every later moment") {
    every_late_write(transfer);
}
TEST_CASE("late: every write of an order lands at every later moment") {
    every_late_write(purchase);
}
TEST_CASE("late: every write of a rewritten record lands at every later moment") {
    every_late_write(change);
}
TEST_CASE("late: every write of a creation lands at every later moment") {
    every_late_write([](auto& engine) { return engine.run("t", issue{new_card()}); });
}
TEST_CASE("late: every write of an erase lands at every later moment") {
    every_late_write([](auto& engine) { return engine.run("t", withdraw{"c", true}); });
}

TEST_CASE("late: a worker ends at every call, and its recovery fails at every call") {
    SUBCASE("transfer") { recovery_is_hit(transfer); }
    SUBCASE("order") { recovery_is_hit(purchase); }
    SUBCASE("rewritten record") { recovery_is_hit(change); }
}

TEST_CASE("late: random faults of every kind hit every worker") {
    for (std::uint64_t seed = 1; seed <= 300; ++seed) by_chance(seed);
}
TEST_CASE("long: late: random faults of every kind hit every worker") {
    for (std::uint64_t seed = 1001; seed <= 6000; ++seed) by_chance(seed);
}

} // namespace settle_test
