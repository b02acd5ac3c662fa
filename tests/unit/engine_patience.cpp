// SPDX-License-Identifier: BSL-1.0
// Calls of the engine outside of transactions, whose store is away for a while. The store suite has
// the calls that only read.
#include "prepared_banks.hpp"
#include "sqlite_file.hpp"

namespace patience_test {

using namespace prepared_test;

namespace {

settle::error away() { return {settle::errc::store_unreachable, "settle: the test is away"}; }

/// A log in memory that is away for some calls of metadata().
struct slow_log {
    using log_type = decltype(std::declval<settle::memory::database&>().bind_log());
    struct session : log_type {
        session(log_type&& inner, int& failures) : log_type(std::move(inner)), left(&failures) {}
        settle::result<std::optional<std::string>> metadata(std::string_view name) {
            if (*left > 0) {
                --*left;
                return away();
            }
            return log_type::metadata(name);
        }
        int* left;
    };

    template <typename... Collections>
    auto bind(std::string const& log_name) {
        return inner.bind<Collections...>(log_name);
    }
    session bind_log() { return {inner.bind_log(), failures}; }

    settle::memory::database inner{};
    int failures = 0;
};

} // namespace

TEST_CASE("patience: a purge waits for the log that keeps its horizon, and for each store") {
    slow_log log;
    world_state world;
    settle::engine engine{log, settle::type<transfer_type>,
                          settle::with_environment(manual_environment{world})};
    open_accounts(engine, {{"A", 100}, {"B", 0}});
    CHECK(engine.run("t", transfer{"A", "B", 5}).done());
    world.time += std::chrono::hours{24 * 40};
    log.failures = 3;
    auto const purged = engine.purge();
    CHECK(purged.problem.empty());
    CHECK(purged.erased == 1);
    CHECK(log.failures == 0);
    log.failures = 1'000'000;
    CHECK(engine.purge().problem.code == errc::store_unreachable);

    banks banks;
    auto payments = banks.make();
    banks.books.now = banks.world.time;
    CHECK(payments.run("t", usual).done());
    CHECK(banks.books.receipts.size() == 1);
    banks.world.time += std::chrono::hours{24 * 40};
    banks.books.disturb = disturbs("forget", fault::unavailable, 3);
    auto const forgotten = payments.purge();
    CHECK(forgotten.problem.empty());
    CHECK(banks.books.receipts.empty());
}

TEST_CASE("patience: the parts in doubt are listed as soon as their database answers") {
    banks banks;
    banks.watch = kill_after(settle::step::commit);
    {
        auto engine = banks.make();
        CHECK_THROWS_AS(std::ignore = engine.run("t", usual), killed);
    }
    banks.watch = {};
    auto engine = banks.make();
    banks.books.disturb = disturbs("list", fault::unavailable, 3);
    auto const found = engine.in_doubt(ledger).value();
    REQUIRE(found.size() == 1);
    CHECK(found[0].id == "t");
    banks.books.disturb = disturbs("list", fault::unavailable, 3);
    CHECK(engine.marks().value() == 2);
    banks.books.disturb = disturbs("list", fault::unavailable, 1'000'000);
    settle::call_options limit;
    limit.deadline = std::chrono::milliseconds{20};
    auto const began = banks.world.elapsed;
    CHECK(engine.in_doubt(ledger, limit).problem().code == errc::store_unreachable);
    CHECK(banks.world.elapsed - began == std::chrono::milliseconds{20});
    banks.books.disturb = [](std::string_view, std::string const&) { return fault::none; };
    CHECK(engine.recover(of_any_age()).done == 1);
    banks.moved(30);
}

TEST_CASE("patience: a record is created as soon as the file can be written") {
    sqlite_test::folder const folder;
    settle::sqlite::database_options options;
    options.busy_timeout = std::chrono::milliseconds{1};
    settle::sqlite::database db{folder.file(), options};
    world_state world;
    settle::engine engine{db, settle::type<transfer_type>,
                          settle::with_environment(manual_environment{world})};
    sqlite3* other = nullptr;
    REQUIRE(sqlite3_open(folder.file().c_str(), &other) == SQLITE_OK);
    auto const execute = [&](char const* sql) {
        CHECK(sqlite3_exec(other, sql, nullptr, nullptr, nullptr) == SQLITE_OK);
    };
    execute("BEGIN IMMEDIATE");
    world.while_pausing = [&] {
        if (world.pauses == 3) execute("COMMIT");
    };
    CHECK(engine.create(accounts, {"A", 100}).has_value());
    CHECK(world.pauses == 3);
    CHECK(engine.create(accounts, {"A", 100}).problem().code == errc::record_exists);
    execute("BEGIN IMMEDIATE");
    settle::call_options limit;
    limit.deadline = std::chrono::milliseconds{20};
    CHECK(engine.create(accounts, {"B", 1}, limit).problem().code == settle::condition::retryable);
    CHECK(world.elapsed > std::chrono::milliseconds{20});
    execute("COMMIT");
    sqlite3_close(other);
}

} // namespace patience_test
