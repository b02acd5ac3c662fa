// SPDX-License-Identifier: BSL-1.0
// Connections that are lost at any moment: work that was certainly undone is reported as undone,
// and only work that may have taken effect is reported as unknown.
#include "proxy.hpp"
#include "sums.hpp"

#include <optional>

namespace settle_test {
namespace {

using settle::condition;

/// A schema behind a bad network.
struct disturbed {
    explicit disturbed(pg::database_options const& limits = short_limits())
        : with{own.address_at(between.port(), proxy::options), limits} {
        make_sums(own.address());
    }
    [[nodiscard]] std::string sum(std::string const& id = "a") const {
        return sum_of(own.address(), id);
    }
    /// Waits for a late effect.
    [[nodiscard]] bool becomes(std::string const& value) const {
        return wait_until(10s, [&] { return sum() == value; });
    }

    fresh_schema own;
    proxy between{own.port()};
    pool with;
};

void check_undone(commit_result const& ended) {
    INFO(ended.problem.text);
    CHECK(ended.status == commit_status::undone);
    CHECK(ended.problem.code == condition::retryable);
    CHECK(pg::detail::is_lost(ended.problem.code));
}

void check_unknown(commit_result const& ended) {
    INFO(ended.problem.text);
    CHECK(ended.status == commit_status::unknown);
    CHECK(ended.problem.code == pg::commit_unknown);
    CHECK(ended.problem.code == condition::unknown);
    CHECK(says(ended.problem, "could not say whether this took effect: commit"));
}

TEST_CASE("lost messages: the request of a COMMIT, and its reply") {
    disturbed disturbed;
    add_surely(disturbed.with, "a", 1);
    SUBCASE("the request is lost") {
        disturbed.between.add({.what = fault::drop_request});
        check_unknown(add(disturbed.with, "a", 1));
        CHECK(disturbed.sum() == "1");
    }
    SUBCASE("the reply is lost") {
        disturbed.between.add({.what = fault::drop_reply});
        check_unknown(add(disturbed.with, "a", 1));
        CHECK(disturbed.becomes("2"));
    }
    SUBCASE("half of the reply is lost") {
        disturbed.between.add({.what = fault::cut_reply});
        auto const ended = add(disturbed.with, "a", 1);
        // The half may have the answer to the COMMIT.
        if (ended.status != commit_status::committed) check_unknown(ended);
        CHECK(disturbed.becomes("2"));
    }
    SUBCASE("the request arrives when its caller has given up") {
        disturbed.between.add({.what = fault::hold_request});
        check_unknown(add(disturbed.with, "a", 1));
        CHECK(disturbed.sum() == "1");
        disturbed.between.release();
        CHECK(disturbed.becomes("2"));
    }
    SUBCASE("the reply comes when its caller has given up") {
        disturbed.between.add({.what = fault::hold_reply});
        check_unknown(add(disturbed.with, "a", 1));
        CHECK(disturbed.sum() == "2");
        disturbed.between.release();
    }
    SUBCASE("the reply is late, but in time") {
        disturbed.between.add({.what = fault::delay_reply, .time = 500ms});
        CHECK(add(disturbed.with, "a", 1).status == commit_status::committed);
        CHECK(disturbed.sum() == "2");
    }
    // The next native transaction has another connection.
    disturbed.between.clear_rules();
    add_surely(disturbed.with, "b", 1);
    CHECK(disturbed.sum("b") == "1");
}

TEST_CASE("lost messages: before a COMMIT was sent, nothing takes effect") {
    disturbed disturbed;
    for (auto const what : {fault::drop_request, fault::drop_reply, fault::hold_request}) {
        disturbed.between.clear_rules();
        disturbed.between.add({.sql = "pg_advisory_xact_lock", .what = what});
        check_undone(add(disturbed.with, "a", 1, [](connection& connection) {
            connection.send_sql("UPDATE sums SET n = 100 WHERE id = 'a'", "change a");
            connection.send_sql("SELECT pg_advisory_xact_lock(1)", "lock");
            connection.sync();
        }));
        disturbed.between.release();
        CHECK(disturbed.between.requests("COMMIT") == 0);
    }
    disturbed.between.clear_rules();
    // A late request makes its native transaction end with its connection.
    CHECK(wait_until(
        60s, [&] { return add(disturbed.with, "a", 1).status == commit_status::committed; }));
    CHECK(disturbed.sum() == "1");
}

TEST_CASE("lost messages: a connection that is cut between two round trips") {
    disturbed disturbed;
    auto const cut = [&](connection&) { disturbed.between.cut_connections(); };
    check_undone(add(disturbed.with, "a", 1, [&](connection& connection) {
        connection.send_sql("UPDATE sums SET n = 100 WHERE id = 'a'", "change a");
        connection.sync();
        cut(connection);
        std::this_thread::sleep_for(50ms);
    }));
    CHECK(disturbed.sum() == "0");
    // Unused connections that were cut are replaced without an error.
    for (int i = 0; i < 3; ++i) {
        disturbed.between.cut_connections();
        std::this_thread::sleep_for(50ms);
        add_surely(disturbed.with, "a", 1);
    }
    CHECK(disturbed.sum() == "3");
}

TEST_CASE("lost messages: a network that lets nothing pass, and a server that cannot be reached") {
    disturbed disturbed;
    add_surely(disturbed.with, "a", 1);
    disturbed.between.black_hole(true);
    auto const ended = add(disturbed.with, "a", 1);
    check_unknown(ended);
    CHECK(says(ended.problem, "no answer came in time"));
    disturbed.between.refuse(true);
    disturbed.between.black_hole(false);
    auto const away = add(disturbed.with, "a", 1);
    check_undone(away);
    CHECK(away.problem.code == pg::not_connected);
    disturbed.between.refuse(false);
    add_surely(disturbed.with, "a", 1);
    CHECK((disturbed.sum() == "2" || disturbed.sum() == "3"));
}

TEST_CASE("lost messages: a session that an administrator or a limit has ended") {
    fresh_schema const own;
    make_sums(own.address());
    auto limits = patient_limits();
    std::optional<pool> opened;
    auto const open = [&]() -> pool& { return opened.emplace(own.address(), limits); };
    auto const pid_of = [](connection& connection) {
        return std::to_string(PQbackendPID(connection.native()));
    };
    auto const end = [&](connection& connection) {
        ask(own.address(), "SELECT pg_terminate_backend(" + pid_of(connection) + ", 60000)");
    };
    SUBCASE("between two round trips") {
        auto const ended = add(open(), "a", 1, [&](connection& connection) {
            connection.send_sql("UPDATE sums SET n = 100 WHERE id = 'a'", "change a");
            connection.sync();
            end(connection);
        });
        check_undone(ended);
        CHECK(ended.problem.code == pg::admin_shutdown);
        CHECK(says(ended.problem, "(SQLSTATE 57P01)"));
    }
    SUBCASE("while a statement runs") {
        std::thread later;
        auto const ended = add(open(), "a", 1, [&](connection& connection) {
            auto const pid = pid_of(connection);
            later = std::thread{[&own, pid] {
                try {
                    CHECK(wait_until(30s, [&] {
                        return ask_one(own.address(), "SELECT count(*) FROM pg_stat_activity "
                                                      "WHERE wait_event = 'PgSleep' AND pid = " +
                                                          pid) == "1";
                    }));
                    ask(own.address(), "SELECT pg_terminate_backend(" + pid + ")");
                } catch (std::exception const& problem) {
                    FAIL_CHECK(std::string{problem.what()});
                }
            }};
            // COMMIT goes with it, and is not reached.
            connection.send_sql("SELECT pg_sleep(50)", "sleep");
        });
        later.join();
        check_undone(ended);
        CHECK(ended.problem.code == pg::admin_shutdown);
    }
    SUBCASE("a process that stood still") {
        limits.idle_timeout = 200ms;
        auto const ended = add(open(), "a", 1, [&](connection& connection) {
            connection.send_sql("UPDATE sums SET n = 100 WHERE id = 'a'", "change a");
            connection.sync();
            auto const pid = pid_of(connection);
            CHECK(wait_until(30s, [&] {
                return ask_one(own.address(),
                               "SELECT count(*) FROM pg_stat_activity WHERE pid = " + pid) == "0";
            }));
        });
        check_undone(ended);
        CHECK(ended.problem.code == pg::idle_in_transaction_timeout);
        CHECK(says(ended.problem, "(SQLSTATE 25P03). This process stood still"));
    }
    SUBCASE("an unused session") {
        {
            auto const here = open().take();
            end(*here);
        }
    }
    CHECK(sum_of(own.address(), "a") == "0");
    add_surely(*opened, "a", 1);
    CHECK(sum_of(own.address(), "a") == "1");
}

} // namespace
} // namespace settle_test
