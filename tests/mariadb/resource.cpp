// SPDX-License-Identifier: BSL-1.0
// The resource of MariaDB: the suite, and tests of MariaDB's own behaviour.
#include "backend.hpp"
#include "failures.hpp"
#include "prepared_suite.hpp"

using namespace settle_test;
using namespace std::string_literals;
namespace maria = settle::mariadb;

namespace {

using backend = mariadb_backend;
struct single_session : mariadb_backend {
    static maria::options limits() {
        auto options = mariadb_backend::limits();
        options.connections = 1;
        options.kept_sessions = 0;
        // Each prepare closes the session, and the server ends it later.
        options.lock_timeout = std::chrono::seconds{60};
        return options;
    }
};

} // namespace

TEST_CASE("resource: prepare, commit and roll back") { check_ends<backend>(); }
TEST_CASE("resource: a single session is free again after each call") {
    check_ends<single_session>();
}
TEST_CASE("resource: refused and failed work leaves nothing") { check_refusals<backend>(); }
TEST_CASE("resource: locks, denials") { check_locks<backend>(); }
TEST_CASE("resource: lists are of one log and one database") { check_lists<backend>(); }
TEST_CASE("resource: old receipts are erased") { check_forgetting<backend>(); }
TEST_CASE("resource: threads queue for a row") { check_threads<backend>(); }
TEST_CASE("resource: lost and late messages") { check_lost_messages<backend>(); }
TEST_CASE("resource: killed sessions") { check_killed_sessions<backend>(); }
TEST_CASE("resource: a server that is killed") { check_crashes<backend>(); }

TEST_CASE("resource: a name whose session stands is held, not absent") {
    fresh_mariadb const own;
    prepared_scene<backend> s{own.address()};
    auto const name = name_of("t1");
    auto const xid = maria::detail::xid_sql(name.text(), maria::detail::format_of(own.name()));
    std::string session;
    {
        mariadb_session holder{s.at};
        session = holder.ask_one(backend::own_id_sql);
        holder.ask("DO GET_LOCK(CONCAT('settle/', MD5('" + name.text() + "')), 0)");
        holder.ask("XA START " + xid);
        holder.ask("UPDATE sums SET n = 1 WHERE id = 'a'");
        holder.ask("XA END " + xid);
        holder.ask("XA PREPARE " + xid);
        auto const held = s.books.commit(name);
        CHECK(held.what == end_answer::unavailable);
        INFO(held.problem);
        CHECK(held.problem.code == maria::no_such_xid);
        CHECK(held.problem.text.find("session that prepared") != held.problem.text.npos);
        CHECK(s.books.roll_back(name).what == end_answer::unavailable);
    }
    s.wait_for_end_of(session);
    CHECK(s.books.commit(name).what == end_answer::ended);
    CHECK(s.sum("a") == "1");
    // No receipt: this name was no work of the library.
    CHECK_FALSE(s.books.receipt_of(name.of).value());
}

TEST_CASE("resource: a name may be prepared again after its session was killed") {
    fresh_mariadb const own;
    prepared_scene<backend> s{own.address()};
    maria::resource stalled{s.at, backend::limits()};
    auto const name = name_of("t1");
    CHECK(stalled.prepare(name, add<backend>("a")).what == prepare_answer::prepared);
    for (auto const& row : s.beside.ask("SELECT id FROM information_schema.processlist WHERE "
                                        "db = DATABASE() AND id <> CONNECTION_ID()")) {
        backend::kill(s.beside, row[0]);
        s.wait_for_end_of(row[0]);
    }
    CHECK(s.books.roll_back(name).what == end_answer::ended);
    CHECK(stalled.prepare(name, add<backend>("b")).what == prepare_answer::prepared);
    // The session of the name does not serve other calls.
    CHECK(stalled.receipt_of(name_of("t2").of).has_value());
    CHECK(stalled.commit(name).what == end_answer::ended);
    CHECK(s.sum("a") == "0");
    CHECK(s.sum("b") == "1");
}

TEST_CASE("resource: all limits of time but that of a statement may be infinite together") {
    fresh_mariadb const own;
    prepared_scene<backend> s{own.address()};
    auto limits = backend::limits();
    limits.statement_timeout = std::chrono::hours{1};
    limits.lock_timeout = limits.idle_timeout = limits.answer_timeout = limits.connect_timeout =
        std::chrono::hours::max();
    maria::resource patient{s.at, limits};
    CHECK(patient.prepare(name_of("t1"), add<backend>("a")).what == prepare_answer::prepared);
    CHECK(patient.commit(name_of("t1")).what == end_answer::ended);
    CHECK(s.sum("a") == "1");
}

TEST_CASE("resource: a commit that the server answers without effect is not taken for one") {
    mariadb_server own;
    prepared_scene<backend> s{own.address()};
    auto const name = name_of("t1", 7);
    auto const xid = maria::detail::xid_sql(name.text(), maria::detail::format_of("test"));
    auto const is_noticed = [&] {
        auto const answer = s.books.commit(name);
        INFO(answer.problem);
        CHECK(answer.what == end_answer::unavailable);
        CHECK(answer.problem.code == maria::name_lost);
        CHECK(answer.problem.code == settle::condition::retryable);
        CHECK(answer.problem.text ==
              "settle: MariaDB could not commit a prepared transaction: '" + name.text() +
                  "' stands, and XA RECOVER does not list it. Restart the server, which lists it "
                  "again, and call again. See mariadb#servers");
        CHECK(s.listed().empty());
        CHECK_FALSE(s.books.receipt_of(name.of).value());
        CHECK(s.sum("a") == "0");
    };
    {
        mariadb_session holder{s.at};
        for (auto const& sql :
             {"XA START " + xid,
              "INSERT INTO settle_receipt VALUES ('" + name.of.text() + "', 7, 0)",
              "UPDATE sums SET n = 1 WHERE id = 'a'"s, "XA END " + xid, "XA PREPARE " + xid}) {
            holder.ask(sql);
        }
        // Other sessions find the name, and InnoDB keeps the native transaction for this session.
        holder.reset();
        CHECK(s.listed() == std::vector{name.text()});
        is_noticed();
    }
    is_noticed();
    CHECK(s.books.roll_back(name).what == end_answer::unavailable);
    own.kill();
    own.start();
    CHECK(s.listed() == std::vector{name.text()});
    CHECK(s.books.commit(name).what == end_answer::ended);
    CHECK(s.books.receipt_of(name.of).value() == 7U);
    CHECK(mariadb_session{s.at}.ask_one("SELECT n FROM sums WHERE id = 'a'") == "1");
}

TEST_CASE("resource: a stalled session ends by itself") {
    fresh_mariadb const own;
    auto limits = backend::limits();
    limits.idle_timeout = 1s;
    prepared_scene<backend> s{own.address()};
    maria::resource short_lived{s.at, limits};
    auto const name = name_of("t1");
    auto const answer = short_lived.prepare(name, [&](sql_connection& connection) {
        auto const session = connection.query(backend::own_id_sql).text(0, 0);
        connection.execute(backend::add_sql, 1, "a");
        // The default of the limit is 30 s.
        CHECK(wait_until(20s, [&] { return !backend::may_hold_locks(s.beside, session); }));
        // Its row is free again.
        CHECK(s.books.prepare(name_of("t2"), add<backend>("a")).what == prepare_answer::prepared);
        return work_result::ok();
    });
    CHECK(answer.what == prepare_answer::unavailable);
    CHECK(s.books.commit(name_of("t2")).what == end_answer::ended);
    CHECK(s.nothing_of(name) == true);
}

TEST_CASE("resource: the rights that are enough") {
    mariadb_server const own;
    mariadb_session admin{own.address()};
    prepared_scene<backend> s{own.address()};
    admin.ask("CREATE USER books IDENTIFIED BY 'p@ss/1'");
    admin.ask("GRANT SELECT, INSERT, DELETE ON test.settle_receipt TO books");
    admin.ask("GRANT SELECT, UPDATE ON test.sums TO books");
    maria::resource books{own.address("test", "books:p%40ss%2F1"), backend::limits()};
    books.bind(log_name);
    CHECK(books.prepare(name_of("t1"), add<backend>("a")).what == prepare_answer::prepared);
    CHECK(books.in_doubt(log_prefix, "", 9).value().size() == 1);
    CHECK(books.commit(name_of("t1")).what == end_answer::ended);
    CHECK(books.deny(name_of("t2")).what == end_answer::ended);
    CHECK(books.forget(log_prefix, settle::timestamp::max(), 9).value() == 2);
    CHECK(s.sum("a") == "1");

    maria::resource wrong{own.address("test", "books:other"), backend::limits()};
    CHECK(failure_of([&] { wrong.bind(log_name); }).code == maria::access_denied);
    admin.ask("CREATE DATABASE empty");
    admin.ask("CREATE USER poor");
    admin.ask("GRANT SELECT ON empty.* TO poor");
    maria::resource poor{own.address("empty", "poor"), backend::limits()};
    auto const problem = failure_of([&] { poor.bind(log_name); });
    CHECK(problem.code == settle::condition::permanent);
    CHECK(problem.text.find("See mariadb#rights") != problem.text.npos);
    // A prepare that a power failure could take.
    admin.ask("SET GLOBAL innodb_flush_log_at_trx_commit = 2");
    CHECK(failure_of([&] { books.bind(log_name); }).code == settle::errc::unfit_store);
}

TEST_CASE("resource: a server that is frozen, and options and addresses without sense") {
    mariadb_server own;
    auto limits = backend::limits();
    limits.statement_timeout = 1s;
    limits.answer_timeout = 2s;
    prepared_scene<backend> s{own.address()};
    maria::resource far{own.address(), limits};
    std::string session;
    auto const work = note_and_add<backend>(session, "a");
    CHECK(far.prepare(name_of("t1"), work).what == prepare_answer::prepared);
    CHECK(far.receipt_of(name_of("t2").of).has_value());
    own.freeze();
    auto const began = std::chrono::steady_clock::now();
    CHECK(far.commit(name_of("t1")).what == end_answer::unknown);
    CHECK(far.commit(name_of("t1")).what == end_answer::unavailable);
    CHECK(std::chrono::steady_clock::now() - began < 20s);
    own.thaw();

    auto const refused = [](std::string const& address) {
        return failure_of([&] { maria::resource const made{address}; }).code ==
               settle::errc::bad_option;
    };
    for (auto const* const address :
         {"mysql://127.0.0.1/bank", "mariadb://127.0.0.1", "mariadb://127.0.0.1/",
          "mariadb:///bank", "mariadb://h:0/bank", "mariadb://h:x/bank", "mariadb://h:70000/bank",
          "mariadb://a@b@h/bank", "mariadb://a%zz@h/bank", "mariadb://a%4@h/bank",
          "mariadb://h/bank?tls=1", "mariadb://h/bank?socket=/x", "mariadb://[::1/bank",
          "mariadb://a%00@h/bank"}) {
        CAPTURE(address);
        CHECK(refused(address));
    }
    // A part of a password that would be a host, a port or a database.
    for (std::string const address :
         {"mariadb://bank:s3cret/x@h/bank", "mariadb://bank:12/s3cret@h/bank",
          "mariadb://bank:s3?cret@h/bank", "mariadb://bank:s3#cret@h/bank"}) {
        CAPTURE(address);
        auto const problem = failure_of([&] { maria::resource const made{address}; });
        CHECK(problem.text.find("'/' as %2F") != problem.text.npos);
        CHECK(problem.text.find("cret") == problem.text.npos);
        CHECK(problem.text.find("12") == problem.text.npos);
    }
    maria::detail::address const six{"mariadb://u:p%3A@[::1]:3307/b%2Fc"};
    CHECK(six.host == "::1");
    CHECK(six.port == 3307);
    CHECK(six.password == "p:");
    CHECK(six.database == "b/c");
    maria::options senseless;
    senseless.answer_timeout = 1s;
    CHECK(failure_of([&] { maria::resource const made{"mariadb://h/bank", senseless}; }).code ==
          settle::errc::bad_option);
    // By its socket.
    maria::resource near{"mariadb://root@/test?socket=" + own.socket(), backend::limits()};
    near.bind(log_name);
    s.wait_for_end_of(session);
    auto const last = near.commit(name_of("t1")).what;
    CHECK((last == end_answer::absent || last == end_answer::ended));
    CHECK(s.sum("a") == "1");
}
