// SPDX-License-Identifier: BSL-1.0
// A purge erases finished entries that no call can need, a step at a time, and nothing else.
#include "../unit/sqlite_file.hpp"
#include "sleeping_threads.hpp"

#include <settle/memory.hpp>
#include <settle/settle.hpp>
#include <settle/sqlite.hpp>
#include <settle/sqlite/connection/connection.hpp>
#include <settle/testing/faults.hpp>
#include <settle/testing/manual_environment.hpp>

#include <transfer/transfer.hpp>

#include <doctest/doctest.h>
#include <sqlite3.h>

#include <atomic>
#include <thread>
#include <tuple>

using namespace std::chrono_literals;

namespace {

struct ended_here : settle::testing::crash {};

/// Adds an SQL function note_erasure() to all connections that open while this object lives, and
/// counts its calls, also in native transactions that are rolled back.
class erasures {
public:
    erasures() {
        calls() = 0;
        REQUIRE(::sqlite3_auto_extension(reinterpret_cast<void (*)()>(add)) == SQLITE_OK);
    }
    erasures(erasures const&) = delete;
    erasures& operator=(erasures const&) = delete;
    ~erasures() { ::sqlite3_cancel_auto_extension(reinterpret_cast<void (*)()>(add)); }

    [[nodiscard]] int count() const { return calls(); }

private:
    static std::atomic<int>& calls() {
        static std::atomic<int> number{0};
        return number;
    }
    static int add(sqlite3* to, char**, sqlite3_api_routines const*) {
        auto const note = [](sqlite3_context* call, int, sqlite3_value**) {
            ++calls();
            ::sqlite3_result_null(call);
        };
        return ::sqlite3_create_function(to, "note_erasure", 0, SQLITE_UTF8, nullptr, note, nullptr,
                                         nullptr);
    }
};

template <typename Database>
auto engine_on(Database& db, settle::testing::manual_environment const& time) {
    return settle::engine{db, settle::type<bank::transfer_type>, settle::with_environment(time),
                          settle::two_phases, settle::observed_by([](settle::event const& seen) {
                              bool const applied = seen.taken == settle::step::apply;
                              if (applied && seen.id == "left") throw ended_here{};
                          })};
}

template <typename Engine>
void open_two_accounts(Engine& engine) {
    for (char const* id : {"A", "B"}) {
        engine.create(bank::accounts, bank::account{id, 1000, 1000}).value();
    }
}

template <typename Database>
void purges(Database& db) {
    settle::testing::manual_environment const time;
    auto engine = engine_on(db, time);
    open_two_accounts(engine);
    for (int i = 0; i < 20; ++i) {
        auto const amount = i % 4 == 3 ? 100000 : 1;
        std::ignore = engine.run("old-" + std::to_string(i), bank::transfer{"A", "B", amount});
        time.advance(1h);
    }
    CHECK_THROWS_AS(std::ignore = engine.run("left", bank::transfer{"A", "B", 5}), ended_here);
    CHECK(engine.submit("submitted", bank::transfer{"A", "B", 5}).problem.empty());

    auto const early = engine.purge();
    CHECK(early.erased == 0);
    CHECK(early.problem.empty());
    settle::purge_options soon;
    soon.older_than = 8 * 24h;
    auto const refused = engine.purge(soon);
    CHECK(refused.problem.code == settle::errc::too_young);
    CHECK(refused.problem.text.find("older than 193 h") != std::string::npos);

    time.advance(30 * 24h - 10h);
    CHECK(engine.run("new", bank::transfer{"A", "B", 1}).done());
    settle::purge_options options;
    options.limit = 0;
    CHECK(engine.purge(options).erased == 0);
    options.limit = 3;
    CHECK(engine.purge(options).erased == 3);
    options.limit = 1000;
    options.step = 2;
    // Entries older than thirty days: the last ten began later than that.
    CHECK(engine.purge(options).erased == 7);
    CHECK(engine.purge(options).erased == 0);
    CHECK_FALSE(engine.find("old-0").value().has_value());
    CHECK_FALSE(engine.find("old-9").value().has_value());
    CHECK(engine.find("old-10").value().has_value());

    time.advance(30 * 24h + 1h);
    settle::recover_options all;
    all.older_than = 0ms;
    auto const recovered = engine.recover(all);
    CHECK(recovered.canceled == 1);
    CHECK(engine.find("left").value()->why == settle::reason::expired);
    CHECK(engine.work().canceled == 1);
    // These two entries were created long ago and have just ended.
    CHECK(engine.purge().erased == 11);
    time.advance(30 * 24h + 1h);
    CHECK(engine.purge().erased == 2);
    CHECK_FALSE(engine.find("left").value().has_value());
    CHECK(engine.page({}, "", 100).value().empty());
    CHECK(engine.marks().value() == 0);
    // A purged id is unknown and runs like any other.
    CHECK(engine.run("old-0", bank::transfer{"A", "B", 1}).done());
    auto const b = engine.read(bank::accounts, std::string{"B"}).value()->balance;
    CHECK(b == 1000 + 15 + 1 + 1);
}

} // namespace

TEST_CASE("purge: it erases finished entries beyond the horizon on memory") {
    settle::memory::database db;
    purges(db);
}

TEST_CASE("purge: it erases finished entries beyond the horizon on SQLite") {
    sqlite_test::folder const here;
    settle::sqlite::database db{here.file()};
    purges(db);
}

namespace {

/// A clock that is behind until the test sets it.
struct unset_clock : settle::testing::manual_environment {
    std::shared_ptr<std::chrono::hours> behind =
        std::make_shared<std::chrono::hours>(24h * 365 * 57);

    [[nodiscard]] settle::timestamp now() const { return manual_environment::now() - *behind; }
};

template <typename Database>
void keeps_what_ended_lately(Database& db) {
    unset_clock const time;
    settle::testing::faulty fragile{db};
    // The clock is set while the store is unreachable for a moment.
    fragile.plan([&](settle::testing::call const& call) {
        bool const waits = call.what == "apply" && *time.behind != 0h;
        if (waits) *time.behind = 0h;
        return settle::testing::fault{waits ? settle::testing::fault_kind::unavailable
                                            : settle::testing::fault_kind::none};
    });
    settle::engine engine{fragile, settle::type<bank::transfer_type>,
                          settle::with_environment(time), settle::two_phases};
    open_two_accounts(engine);
    CHECK(engine.run("one", bank::transfer{"A", "B", 1}).done());
    CHECK(engine.find("one").value()->created < settle::timestamp{24h * 365});
    CHECK(engine.purge().erased == 0);
    CHECK(engine.run("one", bank::transfer{"A", "B", 1}).done());
    CHECK(engine.read(bank::accounts, std::string{"A"}).value()->balance == 999);
    time.advance(31 * 24h);
    CHECK(engine.purge().erased == 1);
}

} // namespace

TEST_CASE("purge: an entry dated by a wrong clock goes only when its end is old enough") {
    settle::memory::database in_memory;
    keeps_what_ended_lately(in_memory);
    sqlite_test::folder const here;
    settle::sqlite::database db{here.file()};
    keeps_what_ended_lately(db);
}

TEST_CASE("purge: an infinite limit makes the horizon infinite, and no entry is old enough") {
    constexpr settle::time_limit for_ever = std::chrono::hours::max();
    for (auto const member :
         {&settle::options::resubmission, &settle::options::lifetime, &settle::options::clocks}) {
        settle::options limits;
        limits.*member = for_ever;
        CHECK(limits.horizon() == for_ever);
        settle::memory::database db;
        settle::testing::manual_environment const time;
        settle::engine engine{db, settle::type<bank::transfer_type>, limits,
                              settle::with_environment(time)};
        open_two_accounts(engine);
        CHECK(engine.run("one", bank::transfer{"A", "B", 1}).done());
        time.advance(90 * 24h);
        settle::purge_options options;
        for (auto const age : {options.older_than, for_ever}) {
            options.older_than = age;
            auto const refused = engine.purge(options);
            CHECK(refused.erased == 0);
            CHECK(refused.problem.code == settle::errc::too_young);
        }
        CHECK(engine.run("one", bank::transfer{"A", "B", 1}).done());
        CHECK(engine.read(bank::accounts, std::string{"A"}).value()->balance == 999);
    }
}

TEST_CASE("purge: other transactions run meanwhile") {
    sqlite_test::folder const folder;
    settle::sqlite::database db{folder.file()};
    settle::testing::manual_environment const time;
    settle::engine engine{db, settle::type<bank::transfer_type>, settle::with_environment(time)};
    open_two_accounts(engine);
    std::vector<bank::transfer> const many(3000, bank::transfer{"A", "B", 1});
    CHECK(engine.run_all(many).size() == 3000);
    time.advance(31 * 24h);
    std::thread other{[&] {
        for (int i = 0; i < 100; ++i) {
            CHECK(engine.run("new-" + std::to_string(i), bank::transfer{"B", "A", 1}).done());
        }
    }};
    settle::purge_options options;
    options.step = 50;
    auto const gone = engine.purge(options);
    other.join();
    CHECK(gone.problem.empty());
    CHECK(gone.erased == 3000);
    CHECK(engine.page({}, "", 1000).value().size() == 100);
}

TEST_CASE("purge: a step that another caller's error rolls back is repeated") {
    sqlite_test::folder const folder;
    erasures counted;
    settle::sqlite::database db{folder.file(), {.busy_timeout = 120s}};
    settle::testing::manual_environment const time;
    auto engine = engine_on(db, time);
    open_two_accounts(engine);
    std::vector<bank::transfer> const some(10, bank::transfer{"A", "B", 1});
    CHECK(engine.run_all(some).size() == 10);
    time.advance(31 * 24h);
    // The request for 'D' aborts the native transaction of all callers that share it.
    sqlite_test::sql(folder.file(), "CREATE TRIGGER no BEFORE INSERT ON accounts WHEN new.id = 'D' "
                                    "BEGIN SELECT RAISE(ROLLBACK, 'nothing at all'); END;"
                                    "CREATE TRIGGER erased AFTER DELETE ON settle_entry "
                                    "BEGIN SELECT note_erasure(); END");
    auto const create = [&](char const* id) {
        return engine.create(bank::accounts, bank::account{id, 1, 1}).has_value();
    };
    settle::purge_report gone;
    settle::purge_options options;
    options.step = 3;
    {
        settle::sqlite::detail::connection const lock{folder.file(), 1s};
        lock.execute("BEGIN IMMEDIATE", "lock the file");
        settle_test::sleeping_threads threads;
        auto const begin = [&](auto work) {
            threads.begin(work);
            threads.wait_until_asleep();
        };
        // The first caller waits for the file, and later callers join its native transaction.
        begin([&] { CHECK(create("C")); });
        begin([&] { gone = engine.purge(options); });
        begin([&] { CHECK_FALSE(create("D")); });
        lock.execute("COMMIT", "unlock the file");
    }
    CHECK(gone.problem.empty());
    CHECK(gone.erased == 10);
    // The entries of the first step were erased twice.
    CHECK(counted.count() == 13);
}
