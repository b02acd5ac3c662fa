// SPDX-License-Identifier: BSL-1.0
// The work of a resource of MariaDB: its settings, its refusals, and the session of its name.
#include "backend.hpp"

#include "prepared_work_suite.hpp"

using namespace settle_test;
namespace maria = settle::mariadb;

namespace {

using backend = mariadb_backend;

/// One session serves all calls, besides a kept one.
struct one_session : mariadb_backend {
    static maria::options limits() {
        auto options = mariadb_backend::limits();
        options.connections = 1;
        options.kept_sessions = 1;
        return options;
    }
};

} // namespace

TEST_CASE("work: what a work sets does not meet the next work") {
    fresh_mariadb const own;
    fresh_mariadb const other;
    prepared_scene<one_session> s{own.address()};
    prepared_scene<one_session> elsewhere{other.address()};
    check_settings<one_session>(
        s,
        "SELECT CONCAT_WS('|', DATABASE(), @@sql_mode, @@autocommit, @@tx_isolation, @@time_zone, "
        "@@innodb_lock_wait_timeout, @@idle_transaction_timeout, @@max_statement_time, "
        "@@character_set_client, @@character_set_results, @mine)",
        {"USE " + other.name(), "/*! USE " + other.name() + " */", "SET sql_mode = ''",
         "SET autocommit = 0", "SET SESSION tx_isolation = 'SERIALIZABLE'",
         "SET time_zone = '+05:00', innodb_lock_wait_timeout = 500, idle_transaction_timeout = 0",
         "SET NAMES latin1", "SET @mine = 'x', max_statement_time = 0"});
    CHECK(elsewhere.sum("a") == "0");
    CHECK(elsewhere.beside.ask_one("SELECT count(*) FROM settle_receipt") == "0");
    // A text passes unchanged after all that.
    s.beside.ask("INSERT INTO sums VALUES ('ä€', 0)");
    commit_surely<one_session>(s, "last ä€", add<one_session>("ä€"));
    CHECK(s.sum("ä€") == "1");
}

TEST_CASE("work: a work cannot end its own native transaction in a comment that is executed") {
    fresh_mariadb const own;
    prepared_scene<backend> s{own.address()};
    for (auto const* const sql : {"/*! COMMIT */", "/*!50000 XA END 'x' */", "/*M!100100 commit*/",
                                  "/* a */ /*! rollback */ SELECT 1"}) {
        CAPTURE(sql);
        auto const answer = s.books.prepare(name_of("t1"), statements({sql}));
        CHECK(answer.what == prepare_answer::refused);
        CHECK(answer.problem.code == settle::errc::bad_option);
    }
    CHECK(s.nothing_of(name_of("t1")));
}

TEST_CASE("work: what would fail again refuses the part") {
    fresh_mariadb const own;
    prepared_scene<backend> s{own.address()};
    s.beside.ask("ALTER TABLE sums ADD CHECK (n < 1000), ADD kind ENUM('x', 'y') NOT NULL, "
                 "ADD small TINYINT");
    s.beside.ask("CREATE TABLE child (id varchar(20) NOT NULL, FOREIGN KEY (id) REFERENCES "
                 "sums (id)) ENGINE = InnoDB");
    s.beside.ask("CREATE PROCEDURE own() SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 31000, "
                 "MESSAGE_TEXT = 'the account is closed'");
    check_refusals_of_database<backend>(
        s, {{"INSERT INTO sums (id, n, kind) VALUES ('a', 1, 'x')", "Duplicate entry"},
            {"UPDATE sums SET n = 5000 WHERE id = 'a'", "CONSTRAINT"},
            {"INSERT INTO child VALUES ('nobody')", "foreign key"},
            {"UPDATE sums SET small = 1000 WHERE id = 'a'", "Out of range"},
            {"UPDATE sums SET n = NULL WHERE id = 'a'", "cannot be null"},
            {"UPDATE sums SET kind = 'z' WHERE id = 'a'", "Data truncated"},
            {"INSERT INTO child VALUES ()", "default value"},
            {"CALL own()", "the account is closed"},
            {"SIGNAL SQLSTATE '45001' SET MESSAGE_TEXT = 'too late'", "too late"},
            {"UPDAT sums", "syntax"},
            {"UPDATE nowhere SET n = 1", "doesn't exist"},
            {"EXECUTE IMMEDIATE 'SELECT 1'", "must not begin or end"},
            {"CREATE TABLE more (n INT)", "XAER_RMFAIL"},
            {"SET SQL_LOG_BIN = 0", "sql_log_bin"}});
}

TEST_CASE("work: a name whose work was refused is free for another session") {
    fresh_mariadb const own;
    prepared_scene<backend> s{own.address()};
    maria::resource other{s.at, backend::limits()};
    auto const refuses = [](sql_connection&) { return work_result::refused("closed"); };
    auto const denied = s.books.prepare(name_of("t1"), refuses);
    CHECK(denied.what == prepare_answer::refused);
    auto const taken = other.prepare(name_of("t1"), add<backend>("a"));
    CHECK_MESSAGE(taken.what == prepare_answer::prepared, taken.problem);
    CHECK(other.commit(name_of("t1")).what == end_answer::ended);
    // The session that committed has no lock either.
    auto const late = s.books.prepare(name_of("t1"), add<backend>("a"));
    CHECK_MESSAGE(late.what == prepare_answer::denied, late.problem);
    CHECK(s.sum("a") == "1");
}

TEST_CASE("work: each of many parts that are prepared at once keeps its session until its end") {
    fresh_mariadb const own;
    prepared_scene<one_session> s{own.address()};
    auto limits = one_session::limits();
    limits.kept_sessions = 20;
    maria::resource books{s.at, limits};
    constexpr int parts = 20;
    auto const id_of = [](int part) { return "p" + std::to_string(part); };
    for (int part = 0; part < parts; ++part) {
        s.beside.ask("INSERT INTO sums VALUES ('" + id_of(part) + "', 0)");
        CHECK(books.prepare(name_of(id_of(part)), add<backend>(id_of(part))).what ==
              prepare_answer::prepared);
    }
    auto const sessions = [&] {
        return std::stoi(s.beside.ask_one("SELECT count(*) FROM information_schema.processlist "
                                          "WHERE db = DATABASE() AND id <> CONNECTION_ID()"));
    };
    CHECK(sessions() >= parts);
    for (int part = 0; part < parts; ++part) {
        CHECK(books.commit(name_of(id_of(part))).what == end_answer::ended);
        CHECK(s.sum(id_of(part)) == "1");
    }
    // One goes back to the pool of each resource, and the others end.
    CHECK(wait_until(60s, [&] { return sessions() <= 2; }));
}

TEST_CASE("work: a name that is prepared already is unknown") {
    fresh_mariadb const own;
    prepared_scene<backend> s{own.address()};
    std::string session;
    {
        maria::resource ended{s.at, backend::limits()};
        CHECK(ended.prepare(name_of("t1"), note_and_add<backend>(session, "a")).what ==
              prepare_answer::prepared);
    }
    s.wait_for_end_of(session);
    auto const again = s.books.prepare(name_of("t1"), add<backend>("b"));
    CHECK_MESSAGE(again.what == prepare_answer::unknown, again.problem);
    CHECK(again.problem.code == maria::duplicate_xid);
    CHECK(s.books.roll_back(name_of("t1")).what == end_answer::ended);
    CHECK(s.nothing_of(name_of("t1")));
}

TEST_CASE("work: a deadlock makes the part busy") {
    fresh_mariadb const own;
    prepared_scene<backend> s{own.address()};
    auto limits = backend::limits();
    limits.lock_timeout = 60s;
    maria::resource patient{s.at, limits};
    mariadb_session holder{s.at};
    holder.ask("BEGIN");
    // The server undoes the smaller native transaction, so this one is the larger.
    for (int row = 0; row < 40; ++row) {
        holder.ask("INSERT INTO sums VALUES ('x" + std::to_string(row) + "', 0)");
    }
    holder.ask("UPDATE sums SET n = 1 WHERE id = 'a'");
    auto const holding = holder.ask_one(backend::own_id_sql);
    std::thread meets;
    auto const ended = patient.prepare(name_of("t1"), [&](sql_connection& connection) {
        auto const booked = add<backend>("b")(connection);
        REQUIRE(booked.what == work_result::status::ok);
        meets = std::thread{[&] { holder.ask("UPDATE sums SET n = 2 WHERE id = 'b'"); }};
        CHECK(wait_until(60s, [&] {
            auto const waiting = backend::waiting(s.beside);
            return std::find(waiting.begin(), waiting.end(), holding) != waiting.end();
        }));
        return add<backend>("a")(connection);
    });
    meets.join();
    holder.ask("ROLLBACK");
    INFO(ended.problem);
    CHECK(ended.what == prepare_answer::busy);
    CHECK(ended.problem.code == maria::deadlock);
    CHECK(s.nothing_of(name_of("t1")));
    commit_surely<backend>(s, "t1", add<backend>("a"));
}

TEST_CASE("work: a name whose session has just ended is ended after a pause") {
    fresh_mariadb const own;
    prepared_scene<backend> s{own.address()};
    std::string session;
    {
        maria::resource ended{s.at, backend::limits()};
        CHECK(ended.prepare(name_of("t1"), note_and_add<backend>(session, "a")).what ==
              prepare_answer::prepared);
    }
    auto const begun = std::chrono::steady_clock::now();
    CHECK(s.books.commit(name_of("t1")).what == end_answer::ended);
    // A slow machine makes this longer, never shorter.
    CHECK(std::chrono::steady_clock::now() - begun >= 1s);
    CHECK(s.sum("a") == "1");
}

TEST_CASE("errors: each code is a conflict, retryable or permanent") {
    using settle::condition;
    struct code_case {
        std::vector<maria::error_number> codes;
        condition expected;
    };
    for (auto const& [codes, expected] : std::vector<code_case>{
             {{maria::lock_wait_timeout, maria::deadlock, maria::branch_timed_out,
               maria::branch_deadlocked, maria::statement_timeout},
              condition::conflict},
             {{maria::name_lost,
               maria::all_in_use,
               maria::connection_lost,
               maria::disk_full,
               maria::too_many_connections,
               maria::server_shutdown,
               maria::table_full,
               maria::user_has_too_many_connections,
               maria::option_prevents,
               maria::query_interrupted,
               maria::no_such_xid,
               maria::read_only_transaction,
               maria::read_only_mode,
               maria::connection_killed,
               maria::not_connected,
               maria::host_not_connected,
               maria::unknown_host,
               maria::server_gone,
               maria::server_lost,
               maria::record_changed,
               maria::lock_table_full,
               maria::definition_changed,
               maria::must_prepare_again,
               maria::too_many_statements,
               maria::columns_changed},
              condition::retryable},
             {{maria::commit_unknown}, condition::unknown},
             {{maria::database_denied, maria::access_denied, maria::unknown_database,
               maria::duplicate_key, maria::command_denied, maria::column_denied,
               maria::unknown_table, maria::data_truncated, maria::no_default,
               maria::wrong_xa_state, maria::branch_rolled_back, maria::duplicate_xid,
               maria::tls_failed, maria::wrong_count, maria::table_altered, maria::no_way_back,
               maria::value_refused, maria::packet_too_large, maria::error_during_commit},
              condition::permanent}}) {
        for (auto const number : codes) {
            CAPTURE(number);
            CHECK(make_error_code(number) == expected);
            for (auto const other : {condition::conflict, condition::retryable, condition::unknown,
                                     condition::permanent}) {
                CHECK((make_error_code(number) == other) == (expected == other));
            }
        }
    }
}
