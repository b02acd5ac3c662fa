// SPDX-License-Identifier: BSL-1.0
// The outcome of a settled transaction is repeated after one read for a whole wave. An engine
// without other workers never pauses.
#include "batches.hpp"

#include <settle/testing/faults.hpp>

using namespace batched;

namespace {

using settle::testing::call;
using settle::testing::fault;
using settle::testing::manual_environment;

/// Records the calls and pauses of an engine.
class sight {
public:
    manual_environment const time;

    void note(call const& call) { ++calls_[std::string{call.what}]; }
    /// The calls since the last call of this function, by their names.
    [[nodiscard]] std::map<std::string, int> calls() { return std::exchange(calls_, {}); }

private:
    std::map<std::string, int> calls_;
};

/// Calls `function(engine, sight)` in memory, on SQLite in one phase and on SQLite in two phases.
template <typename Function>
void in_every_way(Function&& function) {
    auto const run_on = [&](auto& db, settle::phases how, std::string const& name) {
        sight seen;
        settle::testing::faulty counted{db};
        counted.plan([&](call const& call) {
            seen.note(call);
            return fault{};
        });
        settle::engine engine{counted, settle::type<bank::transfer_type>,
                              settle::type<relabel_type>, how, settle::with_environment(seen.time)};
        INFO(name);
        function(engine, seen);
        CHECK(seen.time.pauses() == 0);
    };
    settle::memory::database in_memory;
    run_on(in_memory, settle::phases::two, "memory");
    for (auto const how : {settle::phases::one, settle::phases::two}) {
        sqlite_test::folder const here;
        settle::sqlite::database db{here.file()};
        run_on(db, how,
               how == settle::phases::one ? "sqlite in one phase" : "sqlite in two phases");
    }
}

/// Transfers into one account; every seventh amount exceeds the balance of the source.
orders into_one(std::size_t count) {
    orders orders;
    for (std::size_t i = 0; i < count; ++i) {
        auto const from = static_cast<int>(1 + i % (accounts_open - 1));
        orders.emplace_back(
            "t" + std::to_string(1000 + i),
            bank::transfer{name_of_account(from), name_of_account(0), i % 7 == 6 ? 1000 : 1});
    }
    return orders;
}

using relabel_list = std::vector<std::pair<std::string, relabel>>;

/// Each label change requires the label that its predecessor wrote.
relabel_list chain(std::size_t count) {
    relabel_list list;
    for (std::size_t i = 0; i < count; ++i) {
        list.emplace_back(
            "r" + std::to_string(1000 + i),
            relabel{"hot", "label " + std::to_string(i), "label " + std::to_string(i + 1)});
    }
    return list;
}

template <typename Engine>
void open_all(Engine& engine) {
    open_accounts(engine);
    engine.create(labels, label{"hot", "label 0"}).value();
}

/// The calls that read one wave.
std::map<std::string, int> reads(int waves) { return {{"read", waves}}; }

} // namespace

TEST_CASE("repeated: settled transactions that share a record cost one read a wave") {
    in_every_way([](auto& engine, sight& seen) {
        open_all(engine);
        auto const transfers = into_one(300);
        auto const first = engine.run_all(transfers, {100, {}, {}});
        std::ignore = seen.calls();
        CHECK(engine.run_all(transfers, {100, {}, {}}) == first);
        auto calls = seen.calls();
        // An insert in memory looks as well.
        calls.erase("insert");
        // The first id is looked up alone, before any request is sent for the others.
        CHECK(calls["read"] <= 1 + 3);
        CHECK(calls == reads(calls["read"]));
        CHECK(std::count_if(first.begin(), first.end(),
                            [](auto const& one) { return one.done(); }) == 258);
        CHECK(first[6].why == settle::reason::guard_failed);
    });
}

TEST_CASE("repeated: a single call reads a settled transaction once") {
    in_every_way([](auto& engine, sight& seen) {
        open_all(engine);
        for (auto const& [id, order] : into_one(10)) {
            auto const first = engine.run(id, order);
            std::ignore = seen.calls();
            CHECK(engine.run(id, order) == first);
            CHECK(seen.calls()["read"] == 1);
        }
    });
}

TEST_CASE("repeated: new transactions among settled ones run in their order") {
    in_every_way([](auto& engine, sight& seen) {
        open_all(engine);
        auto const relabels = chain(90);
        relabel_list settled{relabels.begin(), relabels.begin() + 45};
        for (auto const& one : engine.run_all(settled, {1000, {}, {}})) CHECK(one.done());
        std::ignore = seen.calls();
        for (auto const& one : engine.run_all(relabels, {30, {}, {}})) CHECK(one.done());
        CHECK(seen.calls()["read"] <= 1 + 3);
        CHECK(engine.read(labels, "hot").value()->text == "label 90");

        orders mixed;
        for (auto const& one : into_one(200)) mixed.push_back(one);
        orders every_other;
        for (std::size_t i = 1; i < mixed.size(); i += 2) every_other.push_back(mixed[i]);
        auto const before = engine.run_all(every_other, {1000, {}, {}});
        std::ignore = seen.calls();
        auto const outcomes = engine.run_all(mixed, {50, {}, {}});
        for (std::size_t i = 0; i < before.size(); ++i) CHECK(outcomes[2 * i + 1] == before[i]);
        // The waves of a window that is refilled as its settled transactions end.
        CHECK(seen.calls()["read"] <= 12);
    });
}

TEST_CASE("repeated: an id that comes twice in a window delays no other transaction") {
    in_every_way([](auto& engine, sight&) {
        open_all(engine);
        orders transfers;
        for (auto const& one : into_one(60)) {
            transfers.push_back(one);
            transfers.push_back(one);
        }
        transfers.push_back(transfers.front());
        transfers.emplace_back(transfers[3].first,
                               bank::transfer{name_of_account(1), name_of_account(2), 1});
        auto const outcomes = engine.run_all(transfers, {1000, {}, {}});
        for (std::size_t i = 0; i < 120; i += 2) CHECK(outcomes[i] == outcomes[i + 1]);
        CHECK(outcomes[120] == outcomes[0]);
        CHECK(outcomes[121].problem.code == settle::errc::id_in_use);
        CHECK(balance_of(engine, 0) == 100 + 52);

        auto const once = chain(20);
        relabel_list twice;
        for (auto const& one : once) {
            twice.push_back(one);
            twice.push_back(one);
        }
        for (auto const& one : engine.run_all(twice, {1000, {}, {}})) {
            CHECK_MESSAGE(one.done(), one.text());
        }
        CHECK(engine.read(labels, "hot").value()->text == "label 20");
        CHECK(engine.marks().value() == 0);
    });
}

TEST_CASE("repeated: a batch and work() run submitted transactions of one record") {
    in_every_way([](auto& engine, sight&) {
        open_all(engine);
        auto const relabels = chain(40);
        for (std::size_t i = 0; i < 40; i += 3) {
            CHECK(engine.submit(relabels[i].first, relabels[i].second).problem.empty());
        }
        for (auto const& one : engine.run_all(relabels, {1000, {}, {}})) {
            CHECK_MESSAGE(one.done(), one.text());
        }
        auto const orders = into_one(60);
        for (auto const& [id, order] : orders) std::ignore = engine.submit(id, order);
        auto const report = engine.work();
        CHECK(report.done + report.canceled == 60);
        CHECK(report.problem.empty());
    });
}

TEST_CASE("repeated: finished transactions are canceled and reversed, and so are reversals") {
    in_every_way([](auto& engine, sight&) {
        open_all(engine);
        auto const transfers = into_one(7);
        std::ignore = engine.run_all(transfers, {1000, {}, {}});
        CHECK(engine.cancel(transfers[0].first).done());
        CHECK(engine.cancel(transfers[6].first).canceled());
        CHECK(engine.reverse(transfers[0].first).done());
        CHECK(engine.reverse(transfers[0].first).done());
        CHECK(engine.cancel("nobody", {true, {}, {}}).canceled());
        CHECK(engine.run("nobody", transfers[0].second).canceled());
        CHECK(engine.sweep().problem.empty());
    });
}

TEST_CASE("repeated: a transaction that a worker left is recovered beside its record") {
    settle::memory::database in_memory;
    auto const try_on = [](auto& db, settle::phases how) {
        manual_environment const time;
        bool leaves = true;
        settle::engine engine{db, settle::type<bank::transfer_type>, how,
                              settle::with_environment(time),
                              settle::observed_by([&](settle::event const& seen) {
                                  if (leaves && seen.taken == settle::step::apply) throw killed{};
                              })};
        open_accounts(engine);
        auto const transfers = into_one(20);
        // One phase leaves nothing in the middle, so both workers begin in two phases.
        settle::engine leaver{db, settle::type<bank::transfer_type>, settle::two_phases,
                              settle::with_environment(time),
                              settle::observed_by([&](settle::event const& seen) {
                                  if (leaves && seen.taken == settle::step::apply) throw killed{};
                              })};
        for (std::size_t i = 0; i < transfers.size(); i += 2) {
            CHECK_THROWS_AS(std::ignore = leaver.run(transfers[i].first, transfers[i].second),
                            killed);
        }
        leaves = false;
        time.advance(std::chrono::hours{1});
        auto const report = engine.recover();
        CHECK(report.done + report.canceled == 10);
        for (auto const& one : engine.run_all(transfers, {1000, {}, {}}))
            CHECK(one.problem.empty());
        CHECK(engine.marks().value() == 0);
        CHECK(time.pauses() == 0);
    };
    try_on(in_memory, settle::phases::two);
    for (auto const how : {settle::phases::one, settle::phases::two}) {
        sqlite_test::folder const here;
        settle::sqlite::database db{here.file()};
        try_on(db, how);
    }
}
