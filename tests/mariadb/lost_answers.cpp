// SPDX-License-Identifier: BSL-1.0
// A native transaction whose connection, statement or server ends in the middle has an end that is
// certain, or is reported as unknown; nothing stays open. Unfit servers are refused.
#include "sums.hpp"

#include "text_proxy.hpp"

#include <thread>

namespace settle_test {
namespace {

using maria::detail::expectation;
using maria::detail::wave_sql;

/// Adds 1 to `a` with a text in the message, and something else before the COMMIT.
commit_result add_with(pool& to, std::string_view text, std::string const& more = "") {
    auto const& update = to.prepare("UPDATE sums SET n = n + 1 WHERE id = 'a' AND $1 <> ''",
                                    {text_value}, "add to a sum");
    native_transaction native{to};
    return native.perform(
        [&](connection& connection) {
            connection.send(update, text);
            if (!more.empty()) connection.send_sql(more, "wait");
        },
        1s);
}

/// Runs SQL about a session once it works at a statement.
class striker {
public:
    striker(std::string const& address, std::string sql)
        : thread_{[address, sql = std::move(sql)] {
              mariadb_session by{address};
              std::string id;
              bool const is_there = wait_until(60s, [&] {
                  auto const rows = by.ask("SELECT id FROM information_schema.processlist WHERE "
                                           "db = DATABASE() AND state = 'User sleep'");
                  if (!rows.empty()) id = rows[0][0];
                  return !rows.empty();
              });
              if (is_there) by.ask(sql + id);
          }} {}
    ~striker() { thread_.join(); }
    striker(striker const&) = delete;
    striker& operator=(striker const&) = delete;

private:
    std::thread thread_;
};

TEST_CASE("lost answers: a lost answer to a COMMIT is unknown, and any other one is undone") {
    fresh_mariadb const own;
    make_sums(own.address());
    text_proxy between{own.port()};
    pool pool{own.address_at(between.port()), patient_limits()};
    REQUIRE(add_with(pool, "first").status == commit_status::committed);
    // The server executes it; it never receives it.
    int committed = 1;
    for (auto const what : {text_fault::drop_reply, text_fault::drop_request}) {
        for (bool const is_alone : {true, false}) {
            between.disturb("disturbed", what);
            auto const ended = add_with(pool, "disturbed", is_alone ? "" : "DO 0");
            CHECK(ended.status == commit_status::unknown);
            CHECK(ended.problem.code == maria::commit_unknown);
            CHECK(ended.problem.code == settle::condition::unknown);
            committed += what == text_fault::drop_reply;
            CHECK(wait_until(
                60s, [&] { return sum_of(own.address(), "a") == std::to_string(committed); }));
        }
        // Without a COMMIT.
        auto loan = pool.take();
        auto const& update = pool.prepare("UPDATE sums SET n = 9 WHERE id = 'b' AND $1 <> ''",
                                          {text_value}, "change b");
        loan->begin();
        between.disturb("disturbed", what);
        loan->send(update, "disturbed"sv);
        auto const problem = failure_of([&] { loan->sync(); });
        CHECK(problem.code == maria::connection_lost);
        CHECK(problem.code == settle::condition::retryable);
        CHECK(maria::detail::is_lost(problem.code));
        loan->rollback();
        CHECK_FALSE(loan->good());
        // A read takes no effect, and a write outside of a native transaction may.
        auto reader = pool.take();
        auto const& read =
            pool.prepare("SELECT n FROM sums WHERE id = $1", {text_value}, "read a sum");
        between.disturb("disturbed", what);
        reader->send(read, "disturbed"sv);
        CHECK(failure_of([&] { reader->sync(); }).code == maria::connection_lost);
        auto writer = pool.take();
        between.disturb("disturbed", what);
        writer->send(update, "disturbed"sv);
        CHECK(failure_of([&] { writer->sync(); }).code == maria::commit_unknown);
        ask(own.address(), "UPDATE sums SET n = 0 WHERE id = 'b'");
    }
    CHECK(all_are_ended(own));
    CHECK(add_with(pool, "last").status == commit_status::committed);
}

TEST_CASE("lost answers: a loss that shows before the COMMIT is sent is certain") {
    fresh_mariadb const own;
    make_sums(own.address());
    pool pool{own.address(), patient_limits()};
    auto const ended = add(pool, "a", 1, [&](connection& connection) {
        connection.send_sql("UPDATE sums SET n = 5 WHERE id = 'b'", "change b");
        connection.sync();
        ask(own.address(), "KILL " + std::to_string(connection.server().session));
        CHECK(all_are_ended(own));
        // The end of the session is under way to this process.
        std::this_thread::sleep_for(100ms);
    });
    CHECK(ended.status == commit_status::undone);
    CHECK(maria::detail::is_lost(ended.problem.code));
    CHECK(sum_of(own.address(), "b") == "0");
}

TEST_CASE("lost answers: a session that is killed with its COMMIT under way") {
    fresh_mariadb const own;
    make_sums(own.address());
    pool pool{own.address(), patient_limits()};
    {
        striker const kills{own.address(), "KILL "};
        auto const ended = add_with(pool, "x", "DO SLEEP(100)");
        CHECK(ended.status == commit_status::unknown);
        CHECK(ended.problem.code == maria::commit_unknown);
    }
    CHECK(all_are_ended(own)); // the next strike is for another session
    {
        striker const kills{own.address(), "KILL "};
        auto loan = pool.take();
        loan->begin();
        loan->send_sql("UPDATE sums SET n = 5 WHERE id = 'b'", "change b");
        loan->send_sql("DO SLEEP(100)", "wait");
        auto const problem = failure_of([&] { loan->sync(); });
        CHECK(maria::detail::is_lost(problem.code));
        CHECK(problem.code == settle::condition::retryable);
    }
    CHECK(all_are_ended(own));
    {
        striker const kills{own.address(), "KILL "};
        auto here = pool.take();
        here->send_sql("SELECT SLEEP(100)", "read");
        CHECK(failure_of([&] { here->sync(); }).code == settle::condition::retryable);
    }
    CHECK(all_are_ended(own));
    CHECK(sum_of(own.address(), "a") == "0");
    CHECK(sum_of(own.address(), "b") == "0");
}

TEST_CASE("lost answers: a statement that is killed, or takes too long, leaves nothing open") {
    fresh_mariadb const own;
    make_sums(own.address());
    auto limits = patient_limits();
    limits.connections = 1;
    pool patient_pool{own.address(), limits};
    // DO would go on after its end.
    std::string const slow = "UPDATE sums SET n = n + SLEEP(100) WHERE id = 'b'";
    {
        striker const kills{own.address(), "KILL QUERY "};
        auto const ended = add_with(patient_pool, "x", slow);
        CHECK(ended.status == commit_status::undone);
        CHECK(ended.problem.code == maria::query_interrupted);
        CHECK(maria::detail::is_held(ended.problem.code));
    }
    CHECK(all_are_ended(own));
    // The connection is used again.
    auto const session = patient_pool.take()->server().session;
    {
        striker const kills{own.address(), "KILL QUERY "};
        auto loan = patient_pool.take();
        CHECK(loan->server().session == session);
        loan->begin();
        loan->send_sql("UPDATE sums SET n = 5 WHERE id = 'b'", "change b");
        loan->sync();
        loan->send_sql(slow, "wait");
        CHECK(failure_of([&] { loan->sync(); }).code == maria::query_interrupted);
        CHECK(all_are_ended(own));
        CHECK(failure_of([&] { loan->commit(); }).code == maria::query_interrupted);
    }
    {
        // A statement that commits by itself may have come to its end.
        striker const kills{own.address(), "KILL QUERY "};
        auto here = patient_pool.take();
        here->send_sql(slow, "change b");
        CHECK(failure_of([&] { here->sync(); }).code == maria::commit_unknown);
    }
    limits.statement_timeout = 1s;
    pool impatient{own.address(), limits};
    auto const ended = add_with(impatient, "x", slow);
    CHECK(ended.status == commit_status::undone);
    CHECK(ended.problem.code == maria::statement_timeout);
    CHECK(maria::detail::is_held(ended.problem.code));
    CHECK(all_are_ended(own));
    CHECK(add_with(patient_pool, "x").status == commit_status::committed);
    CHECK(sum_of(own.address(), "a") == "1");
    CHECK(sum_of(own.address(), "b") == "0");
}

TEST_CASE("lost answers: an altered table closes the connection, and the next one reads it") {
    fresh_mariadb const own;
    make_sums(own.address());
    pool pool{own.address(), {}};
    auto const& read = pool.prepare("SELECT * FROM sums WHERE id = $1", {text_value}, "read a sum");
    auto loan = pool.take();
    loan->send(read, "a"sv);
    loan->sync();
    ask(own.address(), "ALTER TABLE sums ADD COLUMN more INT");
    auto const number = loan->send(read, "a"sv);
    try {
        loan->sync();
        CHECK(loan->result(number).size() == 1);
    } catch (settle::failure const& caught) {
        CHECK(caught.problem().code == maria::columns_changed);
        CHECK(caught.problem().code == settle::condition::retryable);
        CHECK(maria::detail::is_of_one_table(caught.problem().code));
        CHECK_FALSE(loan->good());
    }
    auto other = pool.take();
    other->send(read, "a"sv);
    other->sync();
}

TEST_CASE("lost answers: more values than fit into one message, and one value that does not") {
    mariadb_server const own{{"max-allowed-packet=1M"}};
    make_sums(own.address());
    ask(own.address(), "CREATE TABLE large (id BIGINT PRIMARY KEY, t LONGTEXT)");
    pool pool{own.address(), patient_limits()};
    CHECK(pool.server().most_bytes == std::size_t{1} << 20U);
    auto const& insert =
        pool.prepare("INSERT INTO large VALUES ($1, $2)", {integer_value, text_value}, "insert");
    std::string const text(300'000, 'x');
    auto const write = [&](std::int64_t count, std::int64_t last) {
        native_transaction native{pool};
        return native.perform(
            [&](connection& connection) {
                for (std::int64_t id = 0; id < count; ++id) connection.send(insert, id, text);
                connection.send(insert, last, text);
            },
            1s);
    };
    auto const rows = [&] {
        return mariadb_session{own.address()}.ask_one(
            "SELECT COUNT(*) FROM large WHERE LENGTH(t) = 300000");
    };
    // An error in the last message undoes the ones before.
    CHECK(write(10, 0).problem.code == maria::duplicate_key);
    CHECK(rows() == "0");
    CHECK(all_are_ended(own, "large"));
    CHECK(write(10, 10).status == commit_status::committed);
    CHECK(rows() == "11");
    // The largest value.
    auto loan = pool.take();
    auto const fits = pool.server().most_bytes - 2000;
    loan->send(insert, std::int64_t{100}, std::string(fits, 'y'));
    loan->sync();
    auto const problem = failure_of(
        [&] { loan->send(insert, std::int64_t{101}, std::string(pool.server().most_bytes, 'y')); });
    CHECK(problem.code == maria::packet_too_large);
    CHECK(problem.code == settle::condition::permanent);
    CHECK(maria::detail::is_of_one_record(problem.code));
    CHECK(says(problem, "the server takes 1048576 in a message"));
    CHECK(loan->good());
    CHECK(loan->reusable());
    CHECK(mariadb_session{own.address()}.ask_one("SELECT LENGTH(t) FROM large WHERE id = 100") ==
          std::to_string(fits));
    auto const rest = add(pool, "a", 1, [&](connection& connection) {
        connection.send_sql("UPDATE sums SET n = 5 WHERE id = 'b'", "change b");
        connection.send(insert, std::int64_t{101}, std::string(pool.server().most_bytes, 'y'));
    });
    CHECK(rest.status == commit_status::undone);
    CHECK(sum_of(own.address(), "b") == "0");
}

TEST_CASE("lost answers: unfit servers are refused") {
    mariadb_server const own{{"log-bin=log", "server-id=1"}};
    mariadb_session root{own.address()};
    auto const refusal = [&](std::string const& set, std::string const& reset) {
        root.ask("SET GLOBAL " + set);
        auto limits = patient_limits();
        limits.connect_timeout = 1s;
        auto problem = failure_of([&] { pool const made{own.address(), limits}; });
        root.ask("SET GLOBAL " + reset);
        return problem;
    };
    auto problem =
        refusal("innodb_flush_log_at_trx_commit = 2", "innodb_flush_log_at_trx_commit = 1");
    CHECK(problem.code == settle::errc::unfit_store);
    CHECK(says(problem, "SET GLOBAL innodb_flush_log_at_trx_commit = 1"));
    CHECK(says(problem, "See mariadb#servers"));
    problem = refusal("binlog_format = 'STATEMENT'", "binlog_format = 'ROW'");
    CHECK(problem.code == settle::errc::unfit_store);
    CHECK(says(problem, "SET GLOBAL binlog_format = ROW"));
    problem = refusal("read_only = 1", "read_only = 0");
    CHECK(problem.code == maria::option_prevents);
    CHECK(problem.code == settle::condition::retryable);
    pool const made{own.address(), patient_limits()};
    mariadb_server const old{{"version=10.5.20-MariaDB"}};
    problem = failure_of([&] { pool const refused{old.address(), patient_limits()}; });
    CHECK(problem.code == settle::errc::other_version);
    CHECK(says(problem, "it is '10.5.20-MariaDB'. Use MariaDB 10.6 or a newer one"));
}

} // namespace
} // namespace settle_test
