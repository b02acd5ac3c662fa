// SPDX-License-Identifier: BSL-1.0
// Servers that are killed, restarted, frozen and replaced by their standby, under load: the rows in
// the table are the rows reported as committed, and some of the rows reported as unknown.
#include "sums.hpp"

#include <atomic>
#include <mutex>
#include <set>

namespace settle_test {
namespace {

using settle::condition;

/// Threads that insert rows, and the reported result of each insert.
class inserters {
public:
    inserters(std::string const& address, pg::database_options const& limits, int count)
        : with_{address, limits} {
        for (int i = 0; i < count; ++i) {
            threads_.emplace_back([this, i] { insert(i); });
        }
    }
    inserters(inserters const&) = delete;
    inserters& operator=(inserters const&) = delete;
    ~inserters() { stop(); }

    void stop() {
        stopping_ = true;
        for (auto& one : threads_) {
            if (one.joinable()) one.join();
        }
    }
    /// Waits until so many more were committed.
    [[nodiscard]] bool progress(std::size_t count = 20) {
        auto const before = committed();
        return wait_until(60s, [&] { return committed() >= before + count; });
    }
    [[nodiscard]] std::size_t committed() {
        std::lock_guard const guard{mutex_};
        return committed_.size();
    }
    /// Compares the reports with the rows in the table.
    void check(std::string const& address) {
        std::set<std::string> rows;
        for (auto const& row : ask(address, "SELECT id FROM rows")) rows.insert(row[0]);
        std::size_t missing = 0;
        for (auto const& id : committed_) missing += 1 - rows.erase(id);
        CHECK(missing == 0);
        std::size_t took_effect = 0;
        for (auto const& id : unknown_) took_effect += rows.erase(id);
        INFO(unknown_.size(), " unknown, ", took_effect, " of them took effect");
        CHECK(rows.empty());
        CHECK_FALSE(committed_.empty());
    }

private:
    void insert(int thread) {
        auto const& statement =
            with_.prepare("INSERT INTO rows VALUES ($1)", {value_type::text}, "insert a row");
        for (int number = 0; !stopping_; ++number) {
            auto const id = std::to_string(thread) + "-" + std::to_string(number);
            native_transaction native{with_};
            auto const change = [&](connection& connection) {
                if (number % 2 == 0) {
                    connection.send_sql("SELECT 1", "begin");
                    connection.sync();
                }
                connection.send(statement, id);
            };
            auto const ended = native.perform(change, 1s);
            std::lock_guard const guard{mutex_};
            if (ended.status == commit_status::committed) committed_.insert(id);
            if (ended.status == commit_status::unknown) unknown_.insert(id);
        }
    }

    pool with_;
    std::atomic<bool> stopping_ = false;
    std::mutex mutex_;
    std::set<std::string> committed_;
    std::set<std::string> unknown_;
    std::vector<std::thread> threads_;
};

constexpr char const* make_rows = "CREATE TABLE rows (id text PRIMARY KEY)";

TEST_CASE("long: outages: a server is killed in the middle of commits, and started again") {
    postgresql_server server;
    ask(server.address(), make_rows);
    inserters load{server.address(), short_limits(), 4};
    for (int i = 0; i < 3; ++i) {
        CHECK(load.progress());
        server.kill();
        std::this_thread::sleep_for(100ms);
        server.start();
    }
    CHECK(load.progress());
    server.stop();
    server.start();
    CHECK(load.progress());
    load.stop();
    load.check(server.address());
}

TEST_CASE("outages: a COMMIT at a frozen server is unknown, and takes effect after the thaw") {
    postgresql_server server;
    make_sums(server.address());
    pool pool{server.address(), short_limits()};
    add_surely(pool, "a", 1);
    server.freeze();
    auto const ended = add(pool, "a", 1);
    CHECK(ended.status == commit_status::unknown);
    server.thaw();
    CHECK(wait_until(10s, [&] { return sum_of(server.address(), "a") == "2"; }));
    add_surely(pool, "a", 1);
}

TEST_CASE("long: outages: a standby takes no writes until it is promoted") {
    postgresql_server primary;
    postgresql_server standby{postgresql_server::standby_of{primary}};
    auto const problem = refusal(standby.address(), short_limits());
    CHECK(problem.code == pg::read_only_transaction);
    CHECK(problem.code == condition::retryable);
    CHECK(says(problem, "this server is a standby (SQLSTATE 25006). Name the primary"));
    // An address of both hosts leads to the primary, whatever its position.
    auto const both =
        "postgresql://postgres@" + standby.host() + "," + primary.host() + "/postgres";
    primary.wait_for_standby(true);
    ask(primary.address(), make_rows);
    inserters load{both, short_limits(), 4};
    CHECK(load.progress());
    primary.kill();
    standby.promote();
    CHECK(load.progress());
    load.stop();
    load.check(standby.address());
}

TEST_CASE("long: outages: a COMMIT that did not wait for its standby is unknown") {
    postgresql_server primary;
    make_sums(primary.address());
    {
        postgresql_server standby{postgresql_server::standby_of{primary}};
        primary.wait_for_standby(true);
        pool with{primary.address(), short_limits()};
        add_surely(with, "a", 1);
    }
    // No standby is there, and no limit ends the wait of a COMMIT.
    pool connections{primary.address(), {}};
    std::thread cancels{[&] {
        CHECK(wait_until(30s, [&] {
            return !ask(primary.address(), "SELECT pg_cancel_backend(pid) FROM pg_stat_activity "
                                           "WHERE wait_event = 'SyncRep'")
                        .empty();
        }));
    }};
    auto const ended = add(connections, "a", 1);
    cancels.join();
    CHECK(ended.status == commit_status::unknown);
    CHECK(ended.problem.code == pg::commit_unknown);
    CHECK(says(ended.problem, "the wait for the standby was canceled"));
    CHECK(sum_of(primary.address(), "a") == "2");
}

TEST_CASE("long: outages: an old primary whose client still has connections") {
    postgresql_server primary;
    make_sums(primary.address());
    postgresql_server standby{postgresql_server::standby_of{primary}};
    auto const both =
        "postgresql://postgres@" + primary.host() + "," + standby.host() + "/postgres";
    pool pool{both, short_limits()};
    add_surely(pool, "a", 1);
    while (sum_of(standby.address(), "a") != "1") std::this_thread::sleep_for(10ms);
    primary.stop();
    standby.promote();
    // The connection to the old primary is gone, and a new one leads to the new primary.
    add_surely(pool, "a", 1);
    CHECK(sum_of(standby.address(), "a") == "2");
}

} // namespace
} // namespace settle_test
