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
    disturbed here;
    add_surely(here.with, "a", 1);
    SUBCASE("the request is lost") {
        here.between.add({.what = fault::drop_request});
        check_unknown(add(here.with, "a", 1));
        CHECK(here.sum() == "1");
    }
    SUBCASE("the reply is lost") {
        here.between.add({.what = fault::drop_reply});
        check_unknown(add(here.with, "a", 1));
        CHECK(here.becomes("2"));
    }
    SUBCASE("half of the reply is lost") {
        here.between.add({.what = fault::cut_reply});
        auto const ended = add(here.with, "a", 1);
        // The half may have the answer to the COMMIT.
        if (ended.status != commit_status::committed) check_unknown(ended);
        CHECK(here.becomes("2"));
    }
    SUBCASE("the request arrives when its caller has given up") {
        here.between.add({.what = fault::hold_request});
        check_unknown(add(here.with, "a", 1));
        CHECK(here.sum() == "1");
        here.between.release();
        CHECK(here.becomes("2"));
    }
    SUBCASE("the reply comes when its caller has given up") {
        here.between.add({.what = fault::hold_reply});
        check_unknown(add(here.with, "a", 1));
        CHECK(here.sum() == "2");
        here.between.release();
    }
    SUBCASE("the reply is late, but in time") {
        here.between.add({.what = fault::delay_reply, .time = 500ms});
        CHECK(add(here.with, "a", 1).status == commit_status::committed);
        CHECK(here.sum() == "2");
    }
    // The next native transaction has another connection.
    here.between.clear_rules();
    add_surely(here.with, "b", 1);
    CHECK(here.sum("b") == "1");
}

TEST_CASE("lost messages: before a COMMIT was sent, nothing takes effect") {
    disturbed here;
    for (auto const what : {fault::drop_request, fault::drop_reply, fault::hold_request}) {
        here.between.clear_rules();
        here.between.add({.sql = "pg_advisory_xact_lock", .what = what});
        check_undone(add(here.with, "a", 1, [](connection& one) {
            one.send_sql("UPDATE sums SET n = 100 WHERE id = 'a'", "change a");
            one.send_sql("SELECT pg_advisory_xact_lock(1)", "lock");
            one.sync();
        }));
        here.between.release();
        CHECK(here.between.requests("COMMIT") == 0);
    }
    here.between.clear_rules();
    // A late request makes its native transaction end with its connection.
    CHECK(
        wait_until(60s, [&] { return add(here.with, "a", 1).status == commit_status::committed; }));
    CHECK(here.sum() == "1");
}

TEST_CASE("lost messages: a connection that is cut between two round trips") {
    disturbed here;
    auto const cut = [&](connection&) { here.between.cut_connections(); };
    check_undone(add(here.with, "a", 1, [&](connection& one) {
        one.send_sql("UPDATE sums SET n = 100 WHERE id = 'a'", "change a");
        one.sync();
        cut(one);
        std::this_thread::sleep_for(50ms);
    }));
    CHECK(here.sum() == "0");
    // Unused connections that were cut are replaced without an error.
    for (int i = 0; i < 3; ++i) {
        here.between.cut_connections();
        std::this_thread::sleep_for(50ms);
        add_surely(here.with, "a", 1);
    }
    CHECK(here.sum() == "3");
}

TEST_CASE("lost messages: a network that lets nothing pass, and a server that cannot be reached") {
    disturbed here;
    add_surely(here.with, "a", 1);
    here.between.black_hole(true);
    auto const ended = add(here.with, "a", 1);
    check_unknown(ended);
    CHECK(says(ended.problem, "no answer came in time"));
    here.between.refuse(true);
    here.between.black_hole(false);
    auto const away = add(here.with, "a", 1);
    check_undone(away);
    CHECK(away.problem.code == pg::not_connected);
    here.between.refuse(false);
    add_surely(here.with, "a", 1);
    CHECK((here.sum() == "2" || here.sum() == "3"));
}

TEST_CASE("lost messages: a session that an administrator or a limit has ended") {
    fresh_schema const own;
    make_sums(own.address());
    auto limits = patient_limits();
    std::optional<pool> made;
    auto const open = [&]() -> pool& { return made.emplace(own.address(), limits); };
    auto const pid_of = [](connection& one) { return std::to_string(PQbackendPID(one.native())); };
    auto const end = [&](connection& one) {
        ask(own.address(), "SELECT pg_terminate_backend(" + pid_of(one) + ", 60000)");
    };
    SUBCASE("between two round trips") {
        auto const ended = add(open(), "a", 1, [&](connection& one) {
            one.send_sql("UPDATE sums SET n = 100 WHERE id = 'a'", "change a");
            one.sync();
            end(one);
        });
        check_undone(ended);
        CHECK(ended.problem.code == pg::admin_shutdown);
        CHECK(says(ended.problem, "(SQLSTATE 57P01)"));
    }
    SUBCASE("while a statement runs") {
        std::thread later;
        auto const ended = add(open(), "a", 1, [&](connection& one) {
            auto const pid = pid_of(one);
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
            one.send_sql("SELECT pg_sleep(50)", "sleep");
        });
        later.join();
        check_undone(ended);
        CHECK(ended.problem.code == pg::admin_shutdown);
    }
    SUBCASE("a process that stood still") {
        limits.idle_timeout = 200ms;
        auto const ended = add(open(), "a", 1, [&](connection& one) {
            one.send_sql("UPDATE sums SET n = 100 WHERE id = 'a'", "change a");
            one.sync();
            auto const pid = pid_of(one);
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
    add_surely(*made, "a", 1);
    CHECK(sum_of(own.address(), "a") == "1");
}

} // namespace
} // namespace settle_test
