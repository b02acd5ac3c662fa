// SPDX-License-Identifier: BSL-1.0
// Values pass unchanged in both directions; statements share round trips; a failed statement undoes
// its native transaction; connections are shared and replaced.
#include "sums.hpp"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <latch>
#include <limits>
#include <memory>
#include <set>
#include <utility>

#include <sys/wait.h>

namespace settle_test {
namespace {

using settle::errc;

TEST_CASE("connections: values pass unchanged, alone and in arrays") {
    fresh_schema const own;
    pool pool{own.address(), {}};
    auto const& all =
        pool.prepare("SELECT $1, $2, $3, $4, $5, $6::int2, $7::int4, $8::text::uuid::text",
                     {value_type::int8, value_type::text, value_type::bytes, value_type::boolean,
                      value_type::float8, value_type::int8, value_type::int8, value_type::text},
                     "echo");
    constexpr auto least = std::numeric_limits<std::int64_t>::min();
    auto loan = pool.take();
    auto const number =
        loan->send(all, least, "äöü\"'\\"sv, "\0\xff'"sv, true, -0.1, std::int64_t{-7},
                   std::int64_t{-70'000}, "00000000-0000-0000-0000-00000000000A"sv);
    loan->sync();
    auto const& rows = loan->result(number);
    REQUIRE(rows.size() == 1);
    CHECK(rows.integer(0, 0) == least);
    CHECK(rows.text(0, 1) == "äöü\"'\\");
    CHECK(rows.bytes(0, 2) == "\0\xff'"sv);
    CHECK(rows.boolean(0, 3));
    CHECK(rows.real(0, 4) == -0.1);
    CHECK(rows.integer(0, 5) == -7);
    CHECK(rows.integer(0, 6) == -70'000);
    CHECK(rows.text(0, 7) == "00000000-0000-0000-0000-00000000000a");

    auto const& nulls = pool.prepare("SELECT $1, $2, ''::text",
                                     {value_type::int8, value_type::text}, "echo nothing");
    auto const none = loan->send(nulls, std::optional<std::int64_t>{}, nullptr);
    loan->sync();
    CHECK(loan->result(none).is_null(0, 0));
    CHECK(loan->result(none).is_null(0, 1));
    CHECK_FALSE(loan->result(none).is_null(0, 2));
    CHECK(loan->result(none).text(0, 2).empty());

    auto const& unnest =
        pool.prepare("SELECT * FROM unnest($1, $2, $3, $4, $5) WITH ORDINALITY AS u(a, b, c, d, e, "
                     "at) ORDER BY at",
                     {value_type::int8_array, value_type::text_array, value_type::bytes_array,
                      value_type::boolean_array, value_type::float8_array},
                     "echo arrays");
    for (int const count : {0, 1, 1000}) {
        array_value a{value_type::int8};
        array_value b{value_type::text};
        array_value c{value_type::bytes};
        array_value d{value_type::boolean};
        array_value e{value_type::float8};
        for (int i = 0; i < count; ++i) {
            a.add(std::int64_t{i});
            if (i % 3 == 0) b.add(nullptr);
            else b.add(std::string_view{std::to_string(i)});
            c.add("\0"sv);
            d.add(i % 2 == 0);
            e.add(i * 0.5);
        }
        auto const got = loan->send(unnest, a, b, c, d, e);
        loan->sync();
        auto const& elements = loan->result(got);
        REQUIRE(elements.size() == count);
        for (int i = 0; i < count; ++i) {
            CHECK(elements.integer(i, 0) == i);
            CHECK(elements.is_null(i, 1) == (i % 3 == 0));
            if (i % 3 != 0) CHECK(elements.text(i, 1) == std::to_string(i));
            CHECK(elements.bytes(i, 2) == "\0"sv);
            CHECK(elements.boolean(i, 3) == (i % 2 == 0));
            CHECK(elements.real(i, 4) == i * 0.5);
        }
    }
}

TEST_CASE("connections: data larger than all buffers passes in both directions at once") {
    fresh_schema const own;
    pool pool{own.address(), {}};
    auto const& echo = pool.prepare("SELECT $1", {value_type::bytes}, "echo");
    std::string const large(3'000'000, 'x');
    auto loan = pool.take();
    std::vector<std::size_t> sent;
    for (int i = 0; i < 10; ++i) sent.push_back(loan->send(echo, large));
    loan->sync();
    for (auto const one : sent) CHECK(loan->result(one).bytes(0, 0) == large);
}

TEST_CASE("connections: a wave costs one round trip, and one more for each sync in between") {
    fresh_schema const own;
    make_sums(own.address());
    pool pool{own.address(), {}};
    auto const& read = pool.prepare("SELECT n FROM sums WHERE id = $1 FOR UPDATE",
                                    {value_type::text}, "read a sum");
    auto const before = pool.round_trips();
    CHECK(add(pool, "a", 1).status == commit_status::committed);
    CHECK(pool.round_trips() - before == 1);
    CHECK(add(pool, "a", 1, [&](connection& connection) {
              auto const a = connection.send(read, "a"sv);
              auto const b = connection.send(read, "b"sv);
              connection.sync();
              CHECK(connection.result(a).integer(0, 0) == 1);
              CHECK(connection.result(b).integer(0, 0) == 0);
          }).status == commit_status::committed);
    CHECK(pool.round_trips() - before == 3);
    // Nothing was sent: nothing is committed.
    native_transaction native{pool};
    CHECK(native.perform([](connection&) {}, 1s).status == commit_status::committed);
    CHECK(pool.round_trips() - before == 3);
    CHECK(sum_of(own.address(), "a") == "2");
}

TEST_CASE("connections: a statement is prepared once on each connection") {
    fresh_schema const own;
    pool pool{own.address(), {}};
    auto const& echo = pool.prepare("SELECT $1", {value_type::int8}, "echo");
    CHECK(&echo == &pool.prepare("SELECT $1", {value_type::int8}, "echo"));
    auto const& count = pool.prepare("SELECT count(*) FROM pg_prepared_statements", "count");
    auto first = pool.take();
    auto second = pool.take();
    for (int i = 0; i < 3; ++i) {
        for (auto* each : {&*first, &*second}) {
            each->send(echo, std::int64_t{i});
            auto const prepared = each->send(count);
            each->sync();
            // These two, BEGIN and COMMIT.
            CHECK(each->result(prepared).integer(0, 0) == 4);
        }
    }
}

TEST_CASE("connections: a failed statement undoes all of its native transaction, and no other") {
    fresh_schema const own;
    make_sums(own.address());
    pool pool{own.address("application_name=" + own.name()), {}};
    auto const ended = add(pool, "a", -2000, [&](connection& connection) {
        connection.send_sql("UPDATE sums SET n = 5 WHERE id = 'b'", "change b");
    });
    CHECK(ended.status == commit_status::undone);
    CHECK(ended.problem.code.value() == pg::number_of("23514"));
    CHECK(ended.problem.code == settle::condition::permanent);
    CHECK(pg::detail::is_of_one_record(ended.problem.code));
    CHECK(says(ended.problem, "(SQLSTATE 23514)"));
    CHECK(sum_of(own.address(), "b") == "0");
    // A failure between two round trips; the queue then has no effect either.
    auto const refused = add(pool, "a", 1, [&](connection& connection) {
        connection.send_sql("UPDATE sums SET n = 5 WHERE id = 'b'", "change b");
        connection.sync();
        connection.send_sql("UPDATE sums SET n = 6 WHERE id = 'b'", "change b");
        throw settle::failure({errc::damaged, "settle: refused"});
    });
    CHECK(refused.status == commit_status::undone);
    CHECK(refused.problem.code == errc::damaged);
    CHECK(sum_of(own.address(), "b") == "0");
    CHECK_THROWS_AS(static_cast<void>(add(pool, "a", 1, [](connection&) { throw 5; })), int);
    // The connection is used again, and is not in a failed transaction.
    CHECK(add(pool, "a", 1).status == commit_status::committed);
    CHECK(sum_of(own.address(), "a") == "1");
    CHECK(ask_one(own.address(), "SELECT count(*) FROM pg_stat_activity WHERE "
                                 "state = 'idle in transaction' AND application_name = '" +
                                     own.name() + "'") == "0");
}

TEST_CASE("connections: the names of a violated constraint can be read") {
    fresh_schema const own;
    make_sums(own.address());
    pool pool{own.address(), {}};
    auto loan = pool.take();
    loan->begin();
    loan->send_sql("INSERT INTO sums VALUES ('a', 1)", "insert a sum");
    try {
        loan->sync();
        FAIL("a second row of one key");
    } catch (pg::detail::statement_failure const& caught) {
        CHECK(caught.problem().code == pg::unique_violation);
        CHECK(caught.names().constraint == "sums_pkey");
        CHECK(caught.names().table == "sums");
        CHECK(caught.names().schema == own.name());
        CHECK(says(caught.problem(), "Key (id)=(a) already exists"));
    }
    CHECK(loan->in_transaction());
    loan->rollback();
    CHECK_FALSE(loan->in_transaction());
    CHECK(loan->reusable());
}

TEST_CASE("connections: a failed commit is certain") {
    fresh_schema const own;
    ask(own.address(), "CREATE TABLE late (id int8 PRIMARY KEY, "
                       "other int8 REFERENCES late DEFERRABLE INITIALLY DEFERRED)");
    pool pool{own.address(), {}};
    native_transaction native{pool};
    auto const ended = native.perform(
        [](connection& connection) {
            connection.send_sql("INSERT INTO late VALUES (1, 2)", "insert");
        },
        1s);
    CHECK(ended.status == commit_status::undone);
    CHECK(ended.problem.code.value() == pg::number_of("23503"));
    CHECK(ask_one(own.address(), "SELECT count(*) FROM late") == "0");
}

TEST_CASE("connections: deadlocks and serialization failures are tried again") {
    fresh_schema const own;
    make_sums(own.address());
    pool pool{own.address(), patient_limits()};
    constexpr int rounds = 20;
    std::atomic<int> committed = 0;
    std::vector<std::thread> threads;
    for (std::string_view const first : {"a"sv, "b"sv}) {
        threads.emplace_back([&, first] {
            auto const& update = pool.prepare("UPDATE sums SET n = n + 1 WHERE id = $1",
                                              {value_type::text}, "add to a sum");
            for (int i = 0; i < rounds; ++i) {
                native_transaction native{pool};
                auto const both = [&](connection& connection) {
                    // A deadlock with the other thread is found sooner than the lock is given up.
                    connection.send_sql("SET LOCAL deadlock_timeout = '20ms'", "find deadlocks");
                    connection.send(update, first);
                    connection.sync();
                    std::this_thread::sleep_for(5ms);
                    connection.send(update, first == "a" ? "b"sv : "a"sv);
                };
                auto const ended = native.perform(both, 20s);
                committed += ended.status == commit_status::committed;
            }
        });
    }
    for (auto& one : threads) one.join();
    CHECK(committed == 2 * rounds);
    CHECK(sum_of(own.address(), "a") == std::to_string(2 * rounds));
    CHECK(sum_of(own.address(), "b") == std::to_string(2 * rounds));
    // A snapshot that another native transaction has overtaken.
    int tries = 0;
    native_transaction native{pool};
    auto const ended = native.perform(
        [&](connection& connection) {
            connection.send_sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ", "isolate");
            connection.send_sql("SELECT n FROM sums", "read the sums");
            connection.sync();
            if (tries++ == 0) ask(own.address(), "UPDATE sums SET n = 100 WHERE id = 'a'");
            connection.send_sql("UPDATE sums SET n = n + 1 WHERE id = 'a'", "add to a sum");
        },
        5s);
    CHECK(ended.status == commit_status::committed);
    CHECK(tries == 2);
    CHECK(sum_of(own.address(), "a") == "101");
}

TEST_CASE("connections: a pool has as many connections as it may, and its callers wait for one") {
    fresh_schema const own;
    make_sums(own.address());
    auto limits = short_limits();
    limits.connections = 2;
    limits.connect_timeout = 200ms;
    auto const name = own.name();
    // A busy server may not answer within this limit, which is to end only the third take().
    auto const tried_again = [](auto connect) {
        for (;;) {
            try {
                return connect();
            } catch (settle::failure const& caught) {
                REQUIRE(caught.problem().code == pg::not_connected);
            }
        }
    };
    {
        auto const pool_of_two = tried_again([&] {
            return std::make_unique<pool>(own.address("application_name=" + name), limits);
        });
        auto const one = tried_again([&] { return pool_of_two->take(); });
        auto const two = tried_again([&] { return pool_of_two->take(); });
        try {
            static_cast<void>(pool_of_two->take());
            FAIL("a third connection");
        } catch (settle::failure const& caught) {
            CHECK(caught.problem().code == pg::all_in_use);
            CHECK(caught.problem().code == settle::condition::retryable);
        }
    }
    limits = patient_limits();
    limits.connections = 2;
    pool patient{own.address("application_name=" + name + "_patient"), limits};
    std::vector<std::thread> threads;
    std::atomic<int> committed = 0;
    for (int i = 0; i < 16; ++i) {
        threads.emplace_back([&] {
            for (int j = 0; j < 10; ++j) {
                committed += add(patient, "a", 1).status == commit_status::committed;
            }
        });
    }
    // A connection that wakes no waiter would hold them for the whole of their patience.
    constexpr auto longest_pause = 60s;
    auto last = std::chrono::steady_clock::now();
    for (int before = 0; committed < 160; std::this_thread::sleep_for(5ms)) {
        auto const now = std::chrono::steady_clock::now();
        if (std::exchange(before, committed.load()) != committed) last = now;
        if (now - last < longest_pause) continue;
        std::fputs("no caller got a connection for 60 s\n", stderr);
        std::quick_exit(1);
    }
    for (auto& one : threads) one.join();
    CHECK(committed == 160);
    CHECK(sum_of(own.address(), "a") == "160");
    CHECK(
        ask_one(own.address(), "SELECT count(*) FROM pg_stat_activity WHERE application_name = '" +
                                   name + "_patient'") == "2");
}

TEST_CASE("connections: a loan that ends in the middle leaves nothing behind") {
    fresh_schema const own;
    make_sums(own.address());
    auto limits = short_limits();
    limits.connections = 1;
    pool pool{own.address(), limits};
    {
        auto const loan = pool.take();
        loan->begin();
        loan->send_sql("UPDATE sums SET n = 5 WHERE id = 'a'", "change a");
        loan->sync();
        loan->send_sql("UPDATE sums SET n = 6 WHERE id = 'a'", "change a");
    }
    {
        auto const here = pool.take();
        here->send_sql("SELECT 1", "ask");
    }
    add_surely(pool, "a", 1);
    CHECK(sum_of(own.address(), "a") == "1");
}

TEST_CASE("connections: a connection that the server ended keeps no place in the pool") {
    fresh_schema const own;
    auto limits = patient_limits();
    limits.connections = 2;
    auto const name = own.name() + "_ended";
    pool pool{own.address("application_name=" + name), limits};
    for (int round = 0; round < 3; ++round) {
        CAPTURE(round);
        {
            auto const first = pool.take();
            auto const second = pool.take();
        }
        auto const pids =
            ask(own.address(),
                "SELECT pid FROM pg_stat_activity WHERE application_name = '" + name + "'");
        CHECK(pids.size() == 2);
        for (auto const& pid : pids) {
            ask(own.address(), "SELECT pg_terminate_backend(" + pid[0] + ", 60000)");
        }
    }
    CHECK(pool.take_unused().has_value() == false);
}

TEST_CASE("connections: a session does not depend on the settings of its user and database") {
    fresh_schema const own;
    std::string address = own.address();
    address.resize(address.find("options="));
    address += "options=-csearch_path%3Dpg_temp,nowhere," + own.name() +
               "%20-csynchronous_commit%3Doff%20-cdefault_transaction_isolation%3Dserializable"
               "%20-cstandard_conforming_strings%3Doff%20-clock_timeout%3D1"
               "%20-cDateStyle%3DGerman%20-cTimeZone%3DAsia/Tokyo&client_encoding=LATIN1";
    pg::database_options limits;
    limits.lock_timeout = 1234ms;
    pool pool{address, limits};
    CHECK(pool.schema_prefix() == "\"" + own.name() + "\".");
    auto const loan = pool.take();
    auto const setting = [&](std::string const& name) {
        auto const number = loan->send_sql("SHOW " + name, "show a setting");
        loan->sync();
        return std::string{loan->result(number).text(0, 0)};
    };
    CHECK(setting("search_path") == own.name() + ", pg_temp");
    CHECK(setting("synchronous_commit") == "on");
    CHECK(setting("transaction_isolation") == "read committed");
    CHECK(setting("standard_conforming_strings") == "on");
    CHECK(setting("lock_timeout") == "1234ms");
    CHECK(setting("client_encoding") == "UTF8");
    CHECK(setting("application_name") == "settle");
    CHECK(setting("DateStyle") == "ISO, YMD");
    CHECK(setting("TimeZone") == "UTC");
    CHECK(setting("row_security") == "off");
    CHECK(setting("synchronize_seqscans") == "off");
}

TEST_CASE("connections: an unusual schema name, and the schema that an option names") {
    fresh_schema const own;
    auto const strange = own.name() + " \"Bank\"; ä";
    auto const quoted = pg::detail::quoted_name(strange);
    ask(own.address(), "CREATE SCHEMA " + quoted);
    pg::database_options how;
    how.schema = strange;
    pool pool{own.address(), how};
    CHECK(pool.schema_prefix() == quoted + ".");
    native_transaction native{pool};
    auto const ended = native.perform(
        [](connection& connection) {
            connection.send_sql("CREATE TABLE here (id int8)", "create a table");
        },
        1s);
    CHECK(ended.status == commit_status::committed);
    CHECK(ask_one(own.address(), "SELECT count(*) FROM " + quoted + ".here") == "0");
    how.schema = "nowhere";
    auto const problem = refusal(own.address(), how);
    CHECK(problem.code == errc::unfit_store);
    CHECK(says(problem, "there is no schema 'nowhere'"));
    CHECK(says(refusal("postgresql://" + shared_postgresql() + "?options=-csearch_path%3Dnowhere"),
               "has no schema that exists and that the user may use"));
    ask(own.address(), "DROP SCHEMA " + quoted + " CASCADE");
}

TEST_CASE("connections: a child of fork() uses no connection, and ends no session of its parent") {
    fresh_schema const own;
    make_sums(own.address());
    pool pool{own.address(), {}};
    auto loan = pool.take();
    auto const child = ::fork();
    if (child == 0) {
        bool good = false;
        try {
            static_cast<void>(pool.take());
        } catch (settle::failure const& caught) {
            good = caught.problem().code == errc::forked;
        }
        {
            auto const gone = std::move(loan);
        }
        ::_exit(good ? 0 : 1);
    }
    int status = -1;
    ::waitpid(child, &status, 0);
    CHECK(status == 0);
    auto const number = loan->send_sql("SELECT 7::int8", "ask");
    loan->sync();
    CHECK(loan->result(number).integer(0, 0) == 7);
}

TEST_CASE("connections: all limits of time but that of a statement may be infinite together") {
    fresh_schema const own;
    pg::database_options how;
    how.statement_timeout = std::chrono::hours{1};
    how.lock_timeout = how.idle_timeout = how.answer_timeout = how.connect_timeout =
        std::chrono::hours::max();
    pool pool{own.address(), how};
    auto loan = pool.take();
    auto const number = loan->send_sql("SELECT 7::int8", "ask");
    loan->sync();
    CHECK(loan->result(number).integer(0, 0) == 7);
}

TEST_CASE("connections: options without sense are refused") {
    auto const refused = [](auto change) {
        pg::database_options how;
        change(how);
        auto const problem = refusal("postgresql://127.0.0.1:1/bank", how);
        CHECK(problem.code == errc::bad_option);
    };
    refused([](auto& how) { how.connections = 0; });
    refused([](auto& how) { how.lock_timeout = 0s; });
    refused([](auto& how) { how.statement_timeout = -1s; });
    refused([](auto& how) { how.idle_timeout = 0s; });
    refused([](auto& how) { how.connect_timeout = 0s; });
    refused([](auto& how) { how.answer_timeout = how.statement_timeout; });
}

} // namespace
} // namespace settle_test
