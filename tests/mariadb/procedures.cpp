// SPDX-License-Identifier: BSL-1.0
// Works that call procedures: a procedure sends several results, and its end may be an error.
#include "backend.hpp"

#include "prepared_suite.hpp"

using namespace settle_test;

namespace {

using books_scene = prepared_scene<mariadb_backend>;

void make_procedures(books_scene& in) {
    in.beside.ask("CREATE PROCEDURE take(many bigint) BEGIN "
                  "UPDATE sums SET n = n + many WHERE id = 'a'; "
                  "SELECT n FROM sums WHERE id = 'a'; SELECT 'more', 'columns'; END");
    in.beside.ask("CREATE PROCEDURE fail(many bigint) BEGIN "
                  "UPDATE sums SET n = n + many WHERE id = 'a'; SELECT 1; "
                  "SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'no seats'; END");
}

} // namespace

TEST_CASE("procedures: the first result of a procedure is the result of its call") {
    fresh_mariadb const own;
    books_scene s{own.address()};
    make_procedures(s);
    auto const answer = s.books.prepare(name_of("t1"), [](sql_connection& connection) {
        auto const plain = connection.query("CALL take(2)");
        CHECK(plain.size() == 1);
        CHECK(plain.integer(0, 0) == 2);
        auto const bound = connection.query("CALL take(?)", 3);
        CHECK(bound.size() == 1);
        CHECK(bound.integer(0, 0) == 5);
        connection.execute(mariadb_backend::add_sql, 1, "b");
        return work_result::ok();
    });
    INFO(answer.problem);
    CHECK(answer.what == prepare_answer::prepared);
    CHECK(s.books.commit(name_of("t1")).what == end_answer::ended);
    CHECK(s.sum("a") == "5");
    CHECK(s.sum("b") == "1");
}

TEST_CASE("procedures: an error after the first result of a procedure is the error of its call") {
    fresh_mariadb const own;
    books_scene s{own.address()};
    make_procedures(s);
    for (bool const bound : {false, true}) {
        CAPTURE(bound);
        auto const answer = s.books.prepare(name_of("t1"), [&](sql_connection& connection) {
            if (bound) connection.query("CALL fail(?)", 1);
            else connection.query("CALL fail(1)");
            return work_result::ok();
        });
        INFO(answer.problem);
        CHECK(answer.what == prepare_answer::unavailable);
        CHECK(answer.problem.text.find("no seats") != answer.problem.text.npos);
        CHECK(s.nothing_of(name_of("t1")));
    }
    CHECK(s.sum("a") == "0");
}
