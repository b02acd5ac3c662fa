// SPDX-License-Identifier: BSL-1.0
// Many concurrent users on few accounts: threads on every store, processes on one SQLite file.
#include "../own_ends.hpp"
#include "../unit/sqlite_file.hpp"
#include "fixtures.hpp"

#include <settle/testing/store_suite/types.hpp>

#include <sys/wait.h>

#include <doctest/doctest.h>

#include <atomic>
#include <csignal>
#include <map>
#include <random>
#include <sstream>
#include <thread>

namespace settle_test {
namespace {

using namespace settle::testing;
using settle::outcome;
using namespace std::chrono_literals;

constexpr std::int64_t accounts = 3;
constexpr std::int64_t opening = 1000;

template <typename Database>
auto engine_on(Database& database) {
    return settle::engine{database, settle::type<move_type>, settle::type<relabel_type>};
}

std::string account(std::uint64_t number) { return "account-" + std::to_string(number % accounts); }

template <typename Engine>
void open_accounts(Engine& engine) {
    for (std::uint64_t i = 0; i < accounts; ++i) {
        engine.create(ledgers, {account(i), opening, 0, "none"}).value();
    }
}

/// The calls of one user: transfers, and now and then a label, which needs the account exclusively.
template <typename Engine, typename Report>
void use(Engine& engine, std::string const& user, std::uint64_t seed, int count, Report&& report) {
    std::mt19937_64 chance{seed};
    for (int i = 0; i < count; ++i) {
        std::string const id = user + "-" + std::to_string(i);
        std::uint64_t const from = chance();
        if (chance() % 16 == 0) {
            report(engine.run(id, relabel{account(from), user}));
        } else {
            std::uint64_t const to = from + 1 + chance() % (accounts - 1);
            report(engine.run(
                id, move{account(from), account(to), static_cast<std::int64_t>(chance() % 700)}));
        }
    }
}

/// The log, the records and the outcomes that the users saw agree.
/// Shape:   reported - id and verdict of every outcome that a user saw
template <typename Engine>
void check_story(Engine& engine, std::map<std::string, std::string> const& reported) {
    CHECK(engine.marks().value() == 0);
    std::map<std::string, std::int64_t> expected;
    for (std::uint64_t i = 0; i < accounts; ++i) expected[account(i)] = opening;
    std::map<std::string, std::string> ends;
    std::size_t done = 0;
    for (settle::entry const& entry : engine.list()) {
        INFO("entry ", entry.id);
        CHECK(settle::is_final(entry.state));
        ends[entry.id] = entry.state == settle::state::done ? "done" : "canceled";
        if (entry.state != settle::state::done || entry.type != "suite_move") continue;
        ++done;
        auto const given = settle::decode_json<move>(entry.parameters).value();
        expected[given.source] -= given.amount;
        expected[given.destination] += given.amount;
    }
    CHECK(done > 0);
    for (auto const& one : reported) {
        INFO("outcome of ", one.first);
        CHECK(ends[one.first] == one.second);
    }
    std::int64_t sum = 0;
    for (ledger const& ledger : engine.scan(ledgers)) {
        INFO(ledger.id);
        CHECK(ledger.balance == expected[ledger.id]);
        CHECK(ledger.balance >= 0);
        sum += ledger.balance;
    }
    CHECK(sum == accounts * opening);
}

template <typename Fixture>
void in_threads(int threads, int count, bool one_engine) {
    Fixture fixture;
    auto& db = fixture.database_here();
    auto shared = engine_on(db);
    open_accounts(shared);
    std::vector<std::vector<outcome>> outcomes(static_cast<std::size_t>(threads));
    {
        std::vector<std::jthread> users;
        for (std::size_t i = 0; i < outcomes.size(); ++i) {
            users.emplace_back([&, i] {
                auto const note = [&](outcome const& outcome) { outcomes[i].push_back(outcome); };
                if (one_engine) {
                    use(shared, "user" + std::to_string(i), i, count, note);
                } else {
                    auto own = engine_on(db);
                    use(own, "user" + std::to_string(i), i, count, note);
                }
            });
        }
    }
    std::map<std::string, std::string> ends;
    for (auto const& some : outcomes) {
        CHECK(some.size() == static_cast<std::size_t>(count));
        for (outcome const& result : some) {
            INFO(result.text());
            CHECK((result.done() || result.canceled()));
            ends[result.id] = std::string{name_of(result.verdict)};
        }
    }
    check_story(shared, ends);
}

template <typename Fixture>
void same_ids(int threads, int count) {
    Fixture fixture;
    auto& db = fixture.database_here();
    auto plain = engine_on(db);
    open_accounts(plain);
    std::vector<std::map<std::string, std::string>> reported(static_cast<std::size_t>(threads));
    {
        std::vector<std::jthread> users;
        for (auto& mine : reported) {
            users.emplace_back([&] {
                // Every user runs the same transfers: one user runs each, and all users get its
                // outcome.
                auto own = engine_on(db);
                use(own, "all", 7, count, [&](outcome const& outcome) {
                    mine[outcome.id] = std::string{name_of(outcome.verdict)};
                });
            });
        }
    }
    for (auto const& mine : reported) CHECK(mine == reported.front());
    CHECK(reported.front().size() == static_cast<std::size_t>(count));
    check_story(plain, reported.front());
}

/// A process that calls `act` and writes the reported outcomes into a pipe.
template <typename Act>
std::pair<pid_t, int> start_process(Act const& act) {
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    pid_t const child = ::fork();
    REQUIRE(child >= 0);
    if (child != 0) {
        ::close(ends[1]);
        return {child, ends[0]};
    }
    ::close(ends[0]);
    int code = 0;
    try {
        act([&](outcome const& outcome) {
            std::string const line =
                outcome.id + ' ' + std::string{name_of(outcome.verdict)} + '\n';
            if (::write(ends[1], line.data(), line.size()) < 0) ::_exit(3);
        });
    } catch (std::exception const&) {
        code = 2;
    }
    ::_exit(code);
}

/// Shape:   text - the beginning, if the caller has read it already
void read_reported(int from, std::map<std::string, std::string>& reported, std::string text = {}) {
    char buffer[4096];
    for (;;) {
        auto const length = ::read(from, buffer, sizeof buffer);
        if (length <= 0) break;
        text.append(buffer, static_cast<std::size_t>(length));
    }
    ::close(from);
    std::istringstream lines{text};
    std::string id;
    std::string verdict;
    while (lines >> id >> verdict) reported[id] = verdict;
}

} // namespace

TEST_CASE("users: threads share one engine on memory") { in_threads<memory_fixture>(4, 500, true); }
TEST_CASE("users: each thread has an engine on memory") {
    in_threads<memory_fixture>(4, 500, false);
}
TEST_CASE("users: threads share one engine on SQLite") { in_threads<sqlite_fixture>(4, 40, true); }
TEST_CASE("users: each thread has an engine on SQLite") {
    in_threads<sqlite_fixture>(4, 40, false);
}
TEST_CASE("users: threads run the same ids on memory") { same_ids<memory_fixture>(4, 200); }
TEST_CASE("users: threads run the same ids on SQLite") { same_ids<sqlite_fixture>(3, 30); }

TEST_CASE("users: threads that share a commit on SQLite each get their own outcome") {
    for (auto const how : {settle::phases::one, settle::two_phases}) {
        INFO("phases ", static_cast<int>(how));
        sqlite_test::folder const folder;
        settle::sqlite::database db{folder.file()};
        settle::engine engine{db, how, without_limits(), settle::type<move_type>,
                              settle::type<relabel_type>};
        sqlite_test::sql(folder.file(), "INSERT INTO suite_ledgers(id, balance, units, label) "
                                        "VALUES('broken', 'much', 0, '')");
        check_own_ends(engine);
    }
}

TEST_CASE("users: a batch on SQLite sees each id that another thread inserts meanwhile") {
    sqlite_test::folder const folder;
    settle::sqlite::database first{folder.file()};
    settle::sqlite::database second{folder.file()};
    settle::engine batches{first, settle::phases::one, without_limits(), settle::type<move_type>};
    settle::engine singles{second, settle::phases::one, without_limits(), settle::type<move_type>};
    check_taken_ids(batches, singles);
}

TEST_CASE("users: processes share one SQLite file") {
    scratch_file path;
    // A separate process also creates the file: no connection lives across a fork.
    std::map<std::string, std::string> reported;
    auto const creator = start_process([&](auto const&) {
        settle::sqlite::database db{path.path()};
        auto engine = engine_on(db);
        open_accounts(engine);
    });
    int status = 0;
    REQUIRE(::waitpid(creator.first, &status, 0) == creator.first);
    REQUIRE(status == 0);
    read_reported(creator.second, reported);
    std::vector<std::pair<pid_t, int>> users;
    for (std::uint64_t i = 0; i < 4; ++i) {
        users.push_back(start_process([&](auto const& note) {
            settle::sqlite::database db{path.path()};
            auto engine = engine_on(db);
            use(engine, "process" + std::to_string(i), i, 40, note);
        }));
    }
    for (auto const& [child, from] : users) {
        read_reported(from, reported);
        REQUIRE(::waitpid(child, &status, 0) == child);
        CHECK(status == 0);
    }
    CHECK(reported.size() == 160);
    for (auto const& one : reported) {
        INFO(one.first);
        CHECK((one.second == "done" || one.second == "canceled"));
    }
    settle::sqlite::database db{path.path()};
    auto engine = engine_on(db);
    check_story(engine, reported);
}

TEST_CASE("users: processes that share one SQLite file are killed") {
    scratch_file path;
    std::map<std::string, std::string> reported;
    std::random_device device;
    auto const seed = device();
    INFO("seed ", seed);
    std::mt19937 chance{seed};
    for (std::uint64_t round = 0; round < 12; ++round) {
        auto const [child, from] = start_process([&](auto const& note) {
            settle::sqlite::database db{path.path()};
            auto engine = engine_on(db);
            for (std::uint64_t i = 0; i < accounts; ++i) {
                // The first to live long enough makes them.
                static_cast<void>(engine.create(ledgers, {account(i), opening, 0, "none"}));
            }
            // More than it can run before it is killed.
            use(engine, "round" + std::to_string(round), round, 1000000, note);
        });
        std::string text;
        if (round % 2 == 0) {
            // It is killed at work, soon after its first done transaction.
            while (!text.ends_with(" done\n")) {
                char byte = 0;
                REQUIRE(::read(from, &byte, 1) == 1);
                text += byte;
            }
            std::this_thread::sleep_for(std::chrono::microseconds{chance() % 20'000});
        } else {
            // Often it is killed while it opens the file.
            std::this_thread::sleep_for(std::chrono::milliseconds{50 + chance() % 200});
        }
        ::kill(child, SIGKILL);
        int status = 0;
        REQUIRE(::waitpid(child, &status, 0) == child);
        CHECK(WIFSIGNALED(status));
        read_reported(from, reported, text);
    }
    CHECK(reported.size() >= 6);
    settle::sqlite::database db{path.path()};
    auto engine = engine_on(db);
    // Their owners are dead, so recovery does not wait for half an hour.
    auto const report = engine.recover();
    CHECK(report.skipped.empty());
    CHECK(report.problem.empty());
    CHECK(engine.sweep().undone == 0);
    check_story(engine, reported);
}

} // namespace settle_test
