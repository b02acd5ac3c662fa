// SPDX-License-Identifier: BSL-1.0
// The receiver on MariaDB: rows and work in one native transaction.
#include "receiver_office.hpp"

namespace mariadb_receivers {

using airline::made_call;
using settle::call_operation;
using settle::call_status;
using testing::contains;

TEST_CASE("receivers: the receiver on MariaDB has the grade barrier") {
    receiver_checks::check_grade<office>();
}
TEST_CASE("receivers: a refusal on MariaDB undoes the work, and its row is stored alone") {
    receiver_checks::check_refusal<office>();
}
TEST_CASE("receivers: a key on MariaDB that comes with another request is refused") {
    receiver_checks::check_another_request<office>();
}
TEST_CASE("receivers: a confirm on MariaDB whose row was lost is for a person") {
    receiver_checks::check_lost_row<office>();
}
TEST_CASE("receivers: work on MariaDB that fails is undone and may be sent again") {
    receiver_checks::check_failed_work<office>();
}
TEST_CASE("receivers: threads on MariaDB that share keys take effect once for each") {
    receiver_checks::check_threads<office>();
}
TEST_CASE("receivers: rows on MariaDB are listed and purged") {
    receiver_checks::check_rows<office>();
}
TEST_CASE("receivers: a database of another receiver is refused") {
    receiver_checks::check_owner<office>();
}

TEST_CASE("receivers: a handler's statement on MariaDB that would commit is refused") {
    struct creating : seats {
        char const* statement;
        explicit creating(char const* sql) : statement(sql) {}
        service_answer apply(receiver_session& session, service_call const& call) const {
            std::ignore = seats::apply(session, call);
            session.execute(statement);
            return service_answer::ok();
        }
    };
    office in;
    for (std::string const statement :
         {"CREATE TABLE more(n INT)", "/*! TRUNCATE booking */", "LOCK TABLES flight READ",
          "/* a note */ ALTER TABLE flight ADD n INT", "SET autocommit = 1", "CALL work()"}) {
        CAPTURE(statement);
        auto const answer = in.airline_receiver.take(made_call(call_operation::apply, "a"),
                                                     creating{statement.c_str()});
        CHECK(answer.status == call_status::unavailable);
        CHECK(contains(answer.text, "must read or write rows"));
        CHECK(in.bookings() == 0);
        CHECK(in.number("SELECT free FROM flight") == 10);
        CHECK_FALSE(in.airline_receiver.find("a").value());
    }
}

TEST_CASE("receivers: a lock that a handler takes on MariaDB ends with it") {
    struct locking : seats {
        service_answer apply(receiver_session& session, service_call const& call) const {
            session.query("SELECT GET_LOCK('mine', 1)");
            return seats::apply(session, call);
        }
    };
    office in;
    CHECK(in.airline_receiver.take(made_call(call_operation::apply, "a"), locking{}).status ==
          call_status::ok);
    CHECK(in.number("SELECT IS_FREE_LOCK('mine')") == 1);
}

} // namespace mariadb_receivers
