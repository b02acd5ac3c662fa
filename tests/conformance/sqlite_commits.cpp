// SPDX-License-Identifier: BSL-1.0
// The number of commits and writes that transactions cost on SQLite, read from the file itself.
#include "batches.hpp"
#include "sleeping_threads.hpp"

#include <settle/sqlite/connection/connection.hpp>

#include <sql.hpp>

#include <cstdint>
#include <fstream>
#include <latch>

using namespace batched;

namespace {

std::uint32_t number_at(std::string const& bytes, std::size_t index) {
    std::uint32_t number = 0;
    for (std::size_t i = 0; i < 4; ++i) {
        number = number << 8U | static_cast<std::uint8_t>(bytes.at(index + i));
    }
    return number;
}

/// The number of commits in a write-ahead log: the frames that hold the new size of the file.
/// Source:  SQLite's file format, "The Write-Ahead Log"
std::size_t commits_in(std::string const& path) {
    std::ifstream file{path + "-wal", std::ios::binary};
    std::string const bytes{std::istreambuf_iterator<char>{file}, {}};
    if (bytes.size() < 32) return 0;
    std::size_t const frame = 24 + number_at(bytes, 8);
    std::size_t count = 0;
    for (std::size_t index = 32; index + frame <= bytes.size(); index += frame) {
        // Frames of an earlier round have another salt.
        bool const of_this = bytes.compare(index + 8, 8, bytes, 16, 8) == 0;
        count += of_this && number_at(bytes, index + 4) != 0 ? 1U : 0U;
    }
    return count;
}

auto bank_on(settle::sqlite::database& db, settle::phases how) {
    return settle::engine{db, settle::type<bank::transfer_type>, how};
}

orders transfers_to_one(int count) {
    orders orders;
    for (int i = 0; i < count; ++i) {
        orders.emplace_back("h" + std::to_string(1000 + i),
                            bank::transfer{name_of_account(1 + i % 30), name_of_account(0), 1});
    }
    return orders;
}

/// Runs the transfers in one window and returns the increase of `count()`.
template <typename Engine, typename Count>
std::size_t cost_of(Engine& engine, orders const& all, Count&& count) {
    std::size_t const before = count();
    for (auto const& outcome : engine.run_all(all, {1000, {}, {}})) {
        CHECK_MESSAGE(outcome.done(), outcome.text());
    }
    return count() - before;
}

} // namespace

TEST_CASE("commits: a window costs one commit in one phase, and one a wave in two phases") {
    sqlite_test::folder const folder;
    settle::sqlite::database db{folder.file()};
    auto in_one = bank_on(db, settle::phases::one);
    auto in_two = bank_on(db, settle::phases::two);
    open_accounts(in_one);
    auto const commits = [&] { return commits_in(folder.file()); };
    auto const all = transfers_to_one(100);
    orders const first{all.begin(), all.begin() + 50};
    orders const second{all.begin() + 50, all.end()};
    CHECK(cost_of(in_one, first, commits) == 1);
    // Insert, apply, commit, confirm, close.
    CHECK(cost_of(in_two, second, commits) == 5);
}

TEST_CASE("commits: concurrent threads share commits") {
    sqlite_test::folder const folder;
    settle::sqlite::database db{folder.file(), {.busy_timeout = std::chrono::minutes{2}}};
    auto engine = bank_on(db, settle::phases::one);
    open_accounts(engine);
    std::atomic<std::size_t> done{0};
    auto const transfer_from = [&](int thread) {
        auto const outcome =
            engine.run(bank::transfer{name_of_account(thread), name_of_account(thread + 16), 1});
        done += outcome.done() ? 1U : 0U;
    };
    std::size_t const before = commits_in(folder.file());
    {
        settle::sqlite::detail::connection const lock{folder.file(), std::chrono::seconds{1}};
        lock.execute("BEGIN IMMEDIATE", "lock the file");
        settle_test::sleeping_threads threads;
        for (int thread = 0; thread < 16; ++thread) {
            threads.begin([&, thread] { transfer_from(thread); });
        }
        // A thread waits for the file, and the others wait for that thread.
        threads.wait_until_asleep();
        lock.execute("COMMIT", "unlock the file");
    }
    CHECK(done == 16);
    CHECK(commits_in(folder.file()) == before + 1);

    std::vector<std::thread> threads;
    std::latch begun{16};
    for (int thread = 0; thread < 16; ++thread) {
        threads.emplace_back([&, thread] {
            begun.arrive_and_wait();
            for (int i = 0; i < 5; ++i) transfer_from(thread);
        });
    }
    for (auto& one : threads) one.join();
    CHECK(done == 96);
    CHECK(commits_in(folder.file()) > before + 1);
}

TEST_CASE("commits: the changes of a window to one record are written once") {
    for (auto const how : {settle::phases::one, settle::phases::two}) {
        sqlite_test::folder const folder;
        settle::sqlite::database db{folder.file()};
        auto engine = bank_on(db, how);
        open_accounts(engine);
        testing::ask(folder.file(),
                     "CREATE TABLE written(count INTEGER); INSERT INTO written VALUES(0);"
                     "CREATE TRIGGER note AFTER UPDATE ON accounts WHEN new.id = 'account 0' "
                     "BEGIN UPDATE written SET count = count + 1; END");
        auto const written = [&] {
            return std::stoul(testing::ask(folder.file(), "SELECT count FROM written").at(0).at(0));
        };
        INFO(std::string{how == settle::phases::one ? "one phase" : "two phases"});
        CHECK(cost_of(engine, transfers_to_one(60), written) == 1);
        CHECK(balance_of(engine, 0) == 160);
    }
}
