// SPDX-License-Identifier: BSL-1.0
// settle::metrics: what it counts, and that it does so without a lock and without an allocation.
#include "metrics_text.hpp"

#include <unit/counted_new.hpp>
#include <unit/engine_types.hpp>

#include <settle/metrics/thread.hpp>
#include <settle/sqlite.hpp>
#include <settle/testing/faults.hpp>

#include <thread>

namespace operating_test {
namespace {

using namespace engine_test;
using settle::testing::fault;
using settle::testing::fault_at;
using settle::testing::fault_kind;
using memory_database = settle::memory::database;

std::string of_transfers(std::string const& family, std::string const& more = "") {
    return "settle_" + family + "{type=\"transfer\"" + more + "}";
}

template <typename Database, typename... Arguments>
auto observed(Database& db, settle::metrics const& numbers, Arguments... arguments) {
    return settle::engine{db, settle::type<transfer_type>, settle::observed_by(numbers),
                          arguments...};
}

template <typename Database>
void count_ends(Database& db) {
    settle::metrics const numbers;
    auto engine = observed(db, numbers);
    open_accounts(engine, {{"secret-A", 100}, {"secret-B", 0}});
    transfer const usual{"secret-A", "secret-B", 30};
    CHECK(engine.run("order-4711", usual).done());
    CHECK(engine.run("order-4711", usual).done());
    CHECK(engine.run("order-4712", transfer{"secret-A", "secret-B", 300}).why ==
          reason::guard_failed);
    CHECK(engine.run("order-4713", transfer{"nobody", "secret-B", 1}).why ==
          reason::record_missing);
    std::ignore = engine.submit("order-4714", usual);
    CHECK(engine.work().done == 1);
    auto const text = numbers.text();
    CHECK(written(text, of_transfers("transactions_begun_total")) == "4");
    CHECK(written(text, of_transfers("transactions_total", R"(,end="done",reason="none")")) == "2");
    CHECK(written(text, of_transfers("transactions_total",
                                     R"(,end="canceled",reason="guard_failed")")) == "1");
    CHECK(written(text, of_transfers("transactions_total",
                                     R"(,end="canceled",reason="record_missing")")) == "1");
    CHECK(written(text, of_transfers("transactions_repeated_total")) == "1");
    CHECK(written(text, of_transfers("transactions_in_flight")) == "0");
    CHECK(written(text, of_transfers("takeovers_total")) == "0");
    CHECK(written(text, of_transfers("transaction_seconds_count")) == "4");
    CHECK(text.find("order-") == std::string::npos);
    CHECK(text.find("secret-") == std::string::npos);
}

} // namespace

TEST_CASE("metrics: ends are counted by type and reason, and no id or key is a label") {
    SUBCASE("in memory") {
        memory_database db;
        count_ends(db);
    }
    SUBCASE("in one phase, in a file") {
        testing::scratch_folder const folder{"metrics"};
        settle::sqlite::database db{folder.at("bank.db")};
        count_ends(db);
    }
}

TEST_CASE("metrics: a call is timed by store and step, and its transaction is in flight") {
    memory_database db;
    world_state world;
    settle::testing::faulty slow{db};
    settle::metrics const numbers;
    auto engine = observed(slow, numbers, settle::with_environment(manual_environment{world}),
                           settle::two_phases);
    open_accounts(engine, {{"A", 100}, {"B", 0}});
    std::string in_flight;
    slow.plan([&](settle::testing::call const& call) {
        if (call.what == "apply") {
            in_flight = written(numbers, of_transfers("transactions_in_flight"));
            world.elapsed += std::chrono::milliseconds{30};
            world.time += std::chrono::milliseconds{30};
        }
        return fault{};
    });
    CHECK(engine.run("t", transfer{"A", "B", 30}).done());
    CHECK(in_flight == "1");
    auto const text = numbers.text();
    CHECK(written(text, of_transfers("transactions_in_flight")) == "0");
    std::string const apply = R"(settle_call_seconds_bucket{store="accounts",call="apply",le=")";
    CHECK(written(text, apply + "0.02\"}") == "0");
    CHECK(written(text, apply + "0.05\"}") == "1");
    CHECK(written(text, R"(settle_call_seconds_sum{store="accounts",call="apply"})") == "0.03");
    CHECK(written(text, R"(settle_call_seconds_count{store="log",call="commit"})") == "1");
    CHECK(written(text, of_transfers("transaction_seconds_bucket", ",le=\"0.02\"")) == "0");
    CHECK(written(text, of_transfers("transaction_seconds_bucket", ",le=\"0.05\"")) == "1");
}

TEST_CASE("metrics: a call that finds its transaction ended leaves nothing in flight") {
    memory_database db;
    settle::testing::faulty looked_at{db};
    settle::metrics const numbers;
    auto engine = observed(looked_at, numbers, settle::two_phases);
    open_accounts(engine, {{"A", 100}, {"B", 0}});
    CHECK(engine.run("ended", transfer{"A", "B", 30}).done());
    CHECK(engine.run("ended", transfer{"A", "B", 30}).done());
    CHECK(engine.cancel("ended").done());
    std::string in_flight;
    looked_at.plan([&](settle::testing::call const& call) {
        if (call.what == "apply")
            in_flight = written(numbers, of_transfers("transactions_in_flight"));
        return fault{};
    });
    CHECK(engine.run("t", transfer{"A", "B", 30}).done());
    CHECK(in_flight == "1");
    CHECK(written(numbers, of_transfers("transactions_repeated_total")) == "2");
}

TEST_CASE("metrics: a lost answer, its claim and a retry are counted, and are no takeover") {
    memory_database db;
    settle::testing::faulty fragile{db};
    settle::metrics const numbers;
    auto engine = observed(fragile, numbers, settle::two_phases);
    open_accounts(engine, {{"A", 100}, {"B", 0}});
    auto const fail = [&](std::string_view what, fault_kind kind) {
        fragile.plan([what, kind, left = 1](settle::testing::call const& call) mutable {
            return call.what == what && left-- > 0 ? fault{kind} : fault{};
        });
    };
    fail("apply", fault_kind::unknown_after);
    CHECK(engine.run("t", transfer{"A", "B", 30}).done());
    CHECK(written(numbers, "settle_unknown_answers_total{store=\"accounts\"}") == "2");
    CHECK(written(numbers, "settle_unknown_answers_total{store=\"log\"}") == "0");
    CHECK(written(numbers, of_transfers("claims_total")) == "1");
    fail("commit", fault_kind::unknown_before);
    CHECK(engine.run("u", transfer{"A", "B", 30}).done());
    CHECK(written(numbers, "settle_unknown_answers_total{store=\"log\"}") == "1");
    CHECK(written(numbers, of_transfers("claims_total")) == "2");
    auto const retries = written(numbers, of_transfers("retries_total"));
    fail("confirm", fault_kind::unavailable);
    CHECK(engine.run("v", transfer{"A", "B", 30}).done());
    CHECK(written(numbers, of_transfers("retries_total")) ==
          std::to_string(std::stoi(retries) + 1));
    CHECK(written(numbers, of_transfers("takeovers_total")) == "0");
}

TEST_CASE("metrics: a takeover and a stray mark are counted") {
    memory_database db;
    settle::testing::faulty fragile{db};
    auto killed_worker = settle::engine{fragile, settle::type<transfer_type>, settle::two_phases};
    settle::metrics const numbers;
    auto engine = observed(db, numbers);
    open_accounts(engine, {{"A", 100}, {"B", 0}});
    fragile.plan([](settle::testing::call const& call) {
        if (call.what == "apply") return fault{fault_kind::late};
        return call.what == "claim" ? fault{fault_kind::crash_before} : fault{};
    });
    CHECK_THROWS_AS(std::ignore = killed_worker.run("t", transfer{"A", "B", 30}),
                    settle::testing::crash);
    CHECK(engine.recover(of_any_age()).done == 1);
    CHECK(written(numbers, of_transfers("takeovers_total")) == "1");
    CHECK(written(numbers, of_transfers("claims_total")) == "1");
    CHECK(fragile.deliver_late() > 0);
    auto const swept = engine.sweep().undone;
    CHECK(swept > 0);
    CHECK(written(numbers, "settle_stray_marks_swept_total") == std::to_string(swept));
}

TEST_CASE("metrics: a transaction that cannot end is counted as stuck, once") {
    memory_database db;
    settle::testing::faulty store{db};
    settle::metrics const numbers;
    auto engine = observed(store, numbers, settle::two_phases,
                           settle::options{.stuck_after = std::chrono::milliseconds{1}});
    open_accounts(engine, {{"A", 100}, {"B", 0}});
    CHECK(engine.run("before", transfer{"A", "B", 1}).done());
    auto const stuck = [&] { return written(numbers, of_transfers("stuck_total")); };
    CHECK(stuck() == "0");
    store.plan([](settle::testing::call const& call) {
        return call.what == "confirm" ? fault{fault_kind::unavailable} : fault{};
    });
    CHECK_FALSE(engine.run("t", transfer{"A", "B", 30}, soon).finished);
    REQUIRE(engine.stuck().value().size() == 1);
    CHECK(stuck() == "1");
    CHECK_FALSE(engine.retry("t", soon).finished);
    CHECK(stuck() == "1");
    store.plan([](settle::testing::call const&) { return fault{}; });
    CHECK(engine.retry("t").done());
    CHECK(engine.stuck().value().empty());
    CHECK(stuck() == "1");
}

TEST_CASE("metrics: many threads lose no count, and no counter decreases for a reader") {
    constexpr int threads = 20; // more than have figures of their own
    constexpr int each = 100;
    memory_database db;
    settle::metrics const numbers;
    auto engine = observed(db, numbers);
    open_accounts(engine, {{"A", threads * each}, {"B", 0}});
    auto const done = of_transfers("transactions_total", R"(,end="done",reason="none")");
    std::jthread const reader{[&](std::stop_token const& stop) {
        for (int before = 0; !stop.stop_requested();) {
            auto const now = written(numbers, done);
            if (now.empty()) continue;
            CHECK(std::stoi(now) >= before);
            before = std::stoi(now);
        }
    }};
    {
        std::vector<std::jthread> callers;
        for (int caller = 0; caller < threads; ++caller) {
            callers.emplace_back([&] {
                for (int i = 0; i < each; ++i) std::ignore = engine.run(transfer{"A", "B", 1});
            });
        }
    }
    CHECK(written(numbers, done) == std::to_string(threads * each));
    CHECK(written(numbers, of_transfers("transactions_in_flight")) == "0");
    CHECK(written(numbers, of_transfers("transactions_begun_total")) ==
          std::to_string(threads * each));
}

TEST_CASE("metrics: counting allocates nothing") {
    settle::memory::basic_database<settle::memory::no_lock> db;
    db.reserve<accounts>(2);
    db.reserve_entries<transfer_type>(100);
    settle::metrics numbers;
    auto engine = observed(db, numbers);
    open_accounts(engine, {{"A", 1000}, {"B", 0}});
    auto const run = [&] {
        auto const before = counted_new::calls();
        CHECK(engine.run(transfer{"A", "B", 1}).done());
        CHECK(engine.run(transfer{"A", "B", 5000}).why == reason::guard_failed);
        return counted_new::calls() - before;
    };
    std::ignore = run();
    CHECK(run() == 0);
    auto const before_any = counted_new::calls();
    numbers.called({"accounts", settle::step::apply, 1, 1, std::chrono::milliseconds{3}});
    numbers.left("a type that was not seen before");
    numbers.swept(1);
    CHECK(counted_new::calls() == before_any);
}

TEST_CASE("metrics: names beyond the room of a table share a series") {
    settle::metrics numbers;
    for (int i = 0; i < 1000; ++i) {
        numbers.called(
            {"store" + std::to_string(i), settle::step::apply, 1, 1, std::chrono::milliseconds{1}});
    }
    auto const text = numbers.text();
    CHECK(written(text, R"(settle_call_seconds_count{store="store0",call="apply"})") == "1");
    CHECK(written(text, "settle_call_seconds_count{store=\"(others)\",call=\"\"}") ==
          std::to_string(1000 - settle::detail::figures::calls));
}

TEST_CASE("metrics: a thread counts what waits in the log, by type, state and age") {
    memory_database db;
    settle::testing::faulty fragile{db};
    settle::metrics const numbers;
    auto engine = observed(fragile, numbers);
    open_accounts(engine, {{"A", 100}, {"B", 0}});
    for (int i = 0; i < 600; ++i) {
        std::ignore = engine.submit("s" + std::to_string(i), transfer{"A", "B", 1});
    }
    auto const old = std::chrono::time_point_cast<std::chrono::milliseconds>(
        std::chrono::system_clock::now() - std::chrono::hours{1});
    plant<transfer_direction>(db, "old", transfer{"A", "B", 30}, "another worker", old);
    auto const pending = of_transfers("unfinished_entries", ",state=\"pending\"");
    auto const age = of_transfers("unfinished_entries_oldest_age_seconds", ",state=\"pending\"");
    CHECK(written(numbers, pending).empty());
    settle::metrics_thread const watcher{engine, numbers, {.every = std::chrono::milliseconds{5}}};
    await([&] { return written(numbers, pending) == "1"; });
    CHECK(written(numbers, of_transfers("unfinished_entries", ",state=\"initial\"")) == "600");
    CHECK(std::stod(written(numbers, age)) >= 3600);
    CHECK(engine.recover(of_any_age()).done == 1);
    await([&] { return written(numbers, pending) == "0"; });
    CHECK(written(numbers, age) == "0");

    // While the log cannot be asked, the last figures and the time of the last look stay.
    fragile.plan([](settle::testing::call const& call) {
        return call.what == "list" ? fault{fault_kind::unavailable} : fault{};
    });
    auto const when = [&] {
        return written(numbers, "settle_unfinished_entries_timestamp_seconds");
    };
    await(
        [&, before = std::string{}]() mutable { return std::exchange(before, when()) == when(); });
    CHECK(written(numbers, of_transfers("unfinished_entries", ",state=\"initial\"")) == "600");
}

TEST_CASE("metrics: a round of the thread ends in time, and the next goes on") {
    memory_database db;
    settle::testing::faulty slow{db};
    settle::metrics const numbers;
    auto engine = observed(slow, numbers);
    for (int i = 0; i < 600; ++i) {
        std::ignore = engine.submit("s" + std::to_string(i), transfer{"A", "B", 1});
    }
    std::atomic<int> pages = 0;
    slow.plan([&](settle::testing::call const& call) {
        if (call.what == "list") {
            ++pages;
            std::this_thread::sleep_for(std::chrono::milliseconds{5});
        }
        return fault{};
    });
    settle::metrics_thread const watcher{
        engine,
        numbers,
        {.every = std::chrono::milliseconds{1}, .within = std::chrono::milliseconds{4}}};
    auto const waiting = of_transfers("unfinished_entries", ",state=\"initial\"");
    await([&] { return written(numbers, waiting) == "600"; });
    CHECK(pages >= 4);
}

TEST_CASE("metrics: a schedule without time is refused") {
    memory_database db;
    settle::metrics const numbers;
    auto engine = observed(db, numbers);
    for (settle::metrics_schedule const schedule :
         {settle::metrics_schedule{.every = std::chrono::seconds{0}},
          settle::metrics_schedule{.within = std::chrono::seconds{-1}}}) {
        CHECK_THROWS_AS((settle::metrics_thread{engine, numbers, schedule}), settle::failure);
    }
}

} // namespace operating_test
