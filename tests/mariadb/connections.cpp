// SPDX-License-Identifier: BSL-1.0
// Statements share a round trip; a failed statement undoes its native transaction; connections are
// shared and replaced.
#include "sums.hpp"

#include <atomic>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

namespace settle_test {
namespace {

using maria::detail::expectation;
using maria::detail::quoted_text;

TEST_CASE("connections: a wave costs one round trip, and one more for each sync in between") {
    fresh_mariadb const own;
    make_sums(own.address());
    pool pool{own.address(), {}};
    auto const& read =
        pool.prepare("SELECT n FROM sums WHERE id = $1 FOR UPDATE", {text_value}, "read a sum");
    CHECK(&read == &pool.prepare("SELECT n FROM sums WHERE id = $1 FOR UPDATE", {text_value}, "x"));
    auto const& update =
        pool.prepare("UPDATE sums SET n = n + $2 WHERE id = $1", {text_value, integer_value},
                     "add to a sum", expectation::counted);
    for (int const round : {0, 1}) {
        CAPTURE(round);
        auto const before = pool.round_trips();
        std::int64_t sum = -1;
        std::size_t changed = 0;
        native_transaction native{pool};
        auto const ended = native.perform(
            [&](connection& connection) {
                auto const first = connection.send(read, "a"sv);
                auto const second = connection.send(read, "b"sv);
                connection.sync();
                sum = connection.result(first).integer(0, 0) +
                      connection.result(second).integer(0, 0);
                connection.send(update, "a"sv, std::int64_t{1});
                changed = connection.send(update, "b"sv, std::int64_t{1});
            },
            1s);
        CHECK(ended.status == commit_status::committed);
        CHECK(native.result(changed).changed() == 1);
        CHECK(sum == 2 * round);
        // The loan has not ended.
        CHECK(pool.round_trips() == before);
        if (round == 0) continue;
    }
    CHECK(pool.round_trips() == 2 + 2 + 2); // both compounds were prepared once
    CHECK(sum_of(own.address(), "a") == "2");
    // Nothing to do is no round trip.
    native_transaction native{pool};
    CHECK(native.perform([](connection&) {}, 1s).status == commit_status::committed);
    CHECK(pool.round_trips() == 6);
}

TEST_CASE("connections: a session keeps a limited number of prepared statements") {
    fresh_mariadb const own;
    pool pool{own.address(), {}};
    auto loan = pool.take();
    for (int const round : {0, 1}) {
        CAPTURE(round);
        for (int number = 0; number < 200; ++number) {
            auto const& echo =
                pool.prepare("SELECT $1 + " + std::to_string(number), {integer_value}, "echo");
            auto const sent = loan->send(echo, std::int64_t{1});
            loan->sync();
            CHECK(loan->result(sent).integer(0, 0) == number + 1);
        }
    }
    auto const sent = loan->send_sql("SHOW SESSION STATUS LIKE 'Prepared_stmt_count'", "count");
    loan->sync();
    auto const total = loan->result(sent).integer(0, 1);
    CHECK(total >= 128);
}

TEST_CASE("connections: another number of rows than is expected undoes all") {
    fresh_mariadb const own;
    make_sums(own.address());
    pool pool{own.address(), {}};
    std::vector const types{text_array};
    auto const& add =
        pool.prepare("UPDATE " + wave(types) + "sums AS t SET t.n = t.n + 1 WHERE t.id = w.c0",
                     types, "add to sums", expectation::all);
    auto const& look =
        pool.prepare("UPDATE " + wave(types) + "sums AS t SET t.n = t.n WHERE t.id = w.c0", types,
                     "look for sums", expectation::no_row);
    auto const& lock =
        pool.prepare("SELECT t.id FROM " + wave(types) + "sums AS t WHERE t.id = w.c0 FOR UPDATE",
                     types, "lock sums", expectation::all);
    auto const change = [&](statement const& by, std::vector<std::string_view> const& ids) {
        native_transaction native{pool};
        return native.perform(
            [&](connection& connection) {
                connection.send_sql("UPDATE sums SET n = n + 5 WHERE id = 'c'", "add to c");
                auto all = array_value::texts();
                for (auto const id : ids) all.add(id);
                connection.send(by, all);
            },
            1s);
    };
    for (auto const& ids : {std::vector{"a"sv, "b"sv}, std::vector{"a"sv, "b"sv, "c"sv, "nobody"sv},
                            std::vector{"a"sv, "nobody"sv}}) {
        CAPTURE(ids.size());
        bool const fits = ids.back() != "nobody";
        for (auto const* const by : {&add, &lock, &look}) {
            auto const is_committed = by != &look && fits;
            auto const before = sum_of(own.address(), "c");
            auto const ended = change(*by, ids);
            CHECK((ended.status == commit_status::committed) == is_committed);
            CHECK((sum_of(own.address(), "c") != before) == is_committed);
            if (is_committed) continue;
            CHECK(ended.status == commit_status::undone);
            CHECK(ended.problem.code == maria::wrong_count);
            CHECK(maria::detail::is_of_one_record(ended.problem.code));
        }
        CHECK(change(look, {"nobody", "nothing"}).status == commit_status::committed);
    }
    CHECK(sum_of(own.address(), "a") == "1");
    // Without a wave, one row is expected; a statement alone is checked, too.
    auto const& single = pool.prepare("UPDATE sums SET n = n + 1 WHERE id = $1", {text_value},
                                      "add to a sum", expectation::all);
    auto loan = pool.take();
    loan->send(single, "a"sv);
    loan->sync();
    loan->send(single, "nobody"sv);
    CHECK(failure_of([&] { loan->sync(); }).code == maria::wrong_count);
    CHECK(sum_of(own.address(), "a") == "2");
}

TEST_CASE("connections: a statement raises errors of the library") {
    fresh_mariadb const own;
    make_sums(own.address());
    pool pool{own.address(), {}};
    for (auto const code : {maria::table_altered, maria::no_way_back}) {
        native_transaction native{pool};
        auto const ended = native.perform(
            [&](connection& connection) {
                connection.send_sql("UPDATE sums SET n = 5", "change sums");
                connection.send_sql("IF EXISTS(SELECT 1 FROM sums WHERE n = 5) THEN " +
                                        maria::detail::raised_sql(code) + "; END IF",
                                    "look at sums");
            },
            1s);
        CHECK(ended.status == commit_status::undone);
        CHECK(ended.problem.code == code);
        CHECK(says(ended.problem, "could not change sums or look at sums"));
    }
    CHECK(sum_of(own.address(), "a") == "0");
}

TEST_CASE("connections: a failed statement undoes all of its native transaction, and no other") {
    fresh_mariadb const own;
    make_sums(own.address());
    pool pool{own.address(), {}};
    std::vector<std::pair<std::string, int>> const errors{
        {"INSERT INTO sums VALUES ('a', 1)", 1062},
        {"UPDATE sums SET n = -2000 WHERE id = 'a'", 4025},
        {"UPDATE sums SET n = 9223372036854775807 + n + 1", 1690},
        {"UPDATE nowhere SET n = 1", 1146},
        {"UPDATE sums SET m = 1", 1054},
        {"INSERT INTO sums VALUES (NULL, 1)", 1048},
        {"INSERT INTO sums VALUES (REPEAT('x', 100), 1)", 1406},
        {"SIGNAL SQLSTATE '45000'", 1644},
        {"SIGNAL SQLSTATE '23000' SET MYSQL_ERRNO = 31000", maria::value_refused},
        {"UPDATE sums SET", 1064}};
    for (auto const& each : errors) {
        auto const& refused = each.first;
        int const number = each.second;
        // In the first message, in a later one, and with the COMMIT.
        for (int const way : {0, 1, 2}) {
            CAPTURE(refused);
            CAPTURE(way);
            auto const ended = add(pool, "a", 1, [&](connection& connection) {
                connection.send_sql("UPDATE sums SET n = 5 WHERE id = 'b'", "change b");
                if (way == 2) connection.sync();
                connection.send_sql(refused, "be refused");
                if (way != 0) connection.sync();
            });
            CHECK(ended.status == commit_status::undone);
            CHECK(ended.problem.code.value() == number);
            CHECK(ended.problem.code == settle::condition::permanent);
            bool const of_table = number == 1146 || number == 1054 || number == 1064;
            CHECK(maria::detail::is_of_one_record(ended.problem.code) == !of_table);
            CHECK(maria::detail::is_of_one_table(ended.problem.code) == of_table);
            CHECK(sum_of(own.address(), "b") == "0");
            CHECK(all_are_ended(own));
        }
    }
    auto const thrown = add(pool, "a", 1, [&](connection& connection) {
        connection.send_sql("UPDATE sums SET n = 5 WHERE id = 'b'", "change b");
        connection.sync();
        connection.send_sql("UPDATE sums SET n = 6 WHERE id = 'b'", "change b");
        throw settle::failure({settle::errc::damaged, "settle: refused"});
    });
    CHECK(thrown.status == commit_status::undone);
    CHECK(thrown.problem.code == settle::errc::damaged);
    CHECK_THROWS_AS(static_cast<void>(add(pool, "a", 1, [](connection&) { throw 5; })), int);
    CHECK(sum_of(own.address(), "b") == "0");
    CHECK(all_are_ended(own));
    CHECK(add(pool, "a", 1).status == commit_status::committed);
    CHECK(sum_of(own.address(), "a") == "1");
}

TEST_CASE("connections: after a failed statement, the rest of its native transaction is refused") {
    fresh_mariadb const own;
    make_sums(own.address());
    pool pool{own.address(), {}};
    auto loan = pool.take();
    loan->begin();
    loan->send_sql("INSERT INTO sums VALUES ('a', 1)", "insert a sum");
    CHECK(failure_of([&] { loan->sync(); }).code == maria::duplicate_key);
    CHECK(loan->in_transaction());
    loan->send_sql("UPDATE sums SET n = 5 WHERE id = 'b'", "change b");
    CHECK(failure_of([&] { loan->sync(); }).code == maria::duplicate_key);
    loan->send_sql("UPDATE sums SET n = 5 WHERE id = 'b'", "change b");
    CHECK(failure_of([&] { loan->commit(); }).code == maria::duplicate_key);
    CHECK(sum_of(own.address(), "b") == "0");
    loan->rollback();
    CHECK_FALSE(loan->in_transaction());
    CHECK(loan->reusable());
}

TEST_CASE("connections: deadlocks are tried again") {
    fresh_mariadb const own;
    make_sums(own.address());
    pool pool{own.address(), patient_limits()};
    constexpr int rounds = 20;
    std::atomic<int> committed = 0;
    std::vector<std::thread> threads;
    for (std::string_view const first : {"a"sv, "b"sv}) {
        threads.emplace_back([&, first] {
            auto const& update = pool.prepare("UPDATE sums SET n = n + 1 WHERE id = $1",
                                              {text_value}, "add to a sum");
            for (int round = 0; round < rounds; ++round) {
                native_transaction native{pool};
                auto const ended = native.perform(
                    [&](connection& connection) {
                        connection.send(update, first);
                        connection.sync();
                        std::this_thread::sleep_for(5ms);
                        connection.send(update, first == "a" ? "b"sv : "a"sv);
                    },
                    20s);
                committed += ended.status == commit_status::committed;
            }
        });
    }
    for (auto& each : threads) each.join();
    CHECK(committed == 2 * rounds);
    CHECK(sum_of(own.address(), "a") == std::to_string(2 * rounds));
    CHECK(sum_of(own.address(), "b") == std::to_string(2 * rounds));
}

TEST_CASE("connections: a row that another holds for too long is held, and nothing stays") {
    fresh_mariadb const own;
    make_sums(own.address());
    maria::options limits;
    limits.lock_timeout = 1s;
    pool pool{own.address(), limits};
    mariadb_session holder{own.address()};
    holder.ask("BEGIN");
    holder.ask("UPDATE sums SET n = 7 WHERE id = 'a'");
    auto const ended = add(pool, "a", 1, [](connection& connection) {
        connection.send_sql("UPDATE sums SET n = 5 WHERE id = 'b'", "change b");
        connection.sync();
    });
    CHECK(ended.status == commit_status::undone);
    CHECK(ended.problem.code == maria::lock_wait_timeout);
    CHECK(maria::detail::is_held(ended.problem.code));
    holder.ask("ROLLBACK");
    CHECK(sum_of(own.address(), "b") == "0");
    CHECK(all_are_ended(own));
}

TEST_CASE("connections: a pool has as many connections as it may, and renews those that ended") {
    fresh_mariadb const own;
    make_sums(own.address());
    auto limits = patient_limits();
    limits.connections = 2;
    limits.connect_timeout = 1s;
    pool pool{own.address(), limits};
    for (int const round : {0, 1}) {
        CAPTURE(round);
        auto const first = pool.take();
        auto const second = pool.take();
        auto const problem = failure_of([&] { static_cast<void>(pool.take()); });
        CHECK(problem.code == maria::all_in_use);
        CHECK(problem.code == settle::condition::retryable);
        mariadb_session killer{own.address()};
        for (auto const* const each : {&first, &second}) {
            auto const number = std::to_string((*each)->server().session);
            killer.ask("KILL " + number);
            CHECK(wait_until(60s, [&] { return !(*each)->alive(); }));
        }
    }
    CHECK_FALSE(pool.take_unused().has_value());
    // A loan that ends in the middle leaves nothing behind.
    {
        auto const loan = pool.take();
        loan->begin();
        loan->send_sql("UPDATE sums SET n = 5 WHERE id = 'a'", "change a");
        loan->sync();
        loan->send_sql("UPDATE sums SET n = 6 WHERE id = 'a'", "change a");
    }
    CHECK(sum_of(own.address(), "a") == "0");
    CHECK(all_are_ended(own));
    CHECK(pool.take_unused().has_value());
}

TEST_CASE("connections: a child of fork() uses no connection, and ends no session of its parent") {
    fresh_mariadb const own;
    pool pool{own.address(), {}};
    auto loan = pool.take();
    auto const& echo = pool.prepare("SELECT $1", {integer_value}, "echo");
    auto const ask_for = [&](std::int64_t number) {
        auto const sent = loan->send(echo, number);
        loan->sync();
        CHECK(loan->result(sent).integer(0, 0) == number);
    };
    ask_for(6);
    auto const child = ::fork();
    if (child == 0) {
        bool good = false;
        try {
            static_cast<void>(pool.take());
        } catch (settle::failure const& caught) {
            good = caught.problem().code == settle::errc::forked;
        }
        {
            auto const gone = std::move(loan);
        }
        ::_exit(good ? 0 : 1);
    }
    int status = -1;
    ::waitpid(child, &status, 0);
    CHECK(status == 0);
    ask_for(7);
}

TEST_CASE("connections: the session has its settings") {
    fresh_mariadb const own;
    pool pool{own.address(), {}};
    CHECK(pool.schema_prefix() == "`" + own.name() + "`.");
    auto const loan = pool.take();
    auto const sent = loan->send_sql("SELECT @@sql_mode, @@tx_isolation, @@time_zone, "
                                     "@@autocommit, @@innodb_lock_wait_timeout, " +
                                         quoted_text("a'b\\c"),
                                     "read the settings");
    loan->sync();
    auto const& settings = loan->result(sent);
    CHECK(settings.text(0, 0).find("NO_AUTO_VALUE_ON_ZERO") != std::string_view::npos);
    CHECK(settings.text(0, 0).find("STRICT_ALL_TABLES") != std::string_view::npos);
    CHECK(settings.text(0, 1) == "READ-COMMITTED");
    CHECK(settings.text(0, 2) == "+00:00");
    CHECK(settings.integer(0, 3) == 1);
    CHECK(settings.integer(0, 4) == 2);
    CHECK(settings.text(0, 5) == "a'b\\c");
}

} // namespace
} // namespace settle_test
