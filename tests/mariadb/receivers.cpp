// SPDX-License-Identifier: BSL-1.0
// The receiver on MariaDB: rows and work in one native transaction.
#include "proxy.hpp"
#include "receiver_office.hpp"

#include <patiently.hpp>
#include <receiver_disturbed.hpp>

namespace mariadb_receivers {

using airline::made_call;
using settle::call_operation;
using settle::call_status;
using testing::contains;

namespace {

using namespace std::chrono_literals;

struct network : settle_test::single_messages {
    using office = mariadb_receivers::office;
    using proxy = settle_test::mariadb_proxy;

    static std::string address(office const& in, proxy const& between) {
        return in.own.address_at(between.port());
    }
    static receiver_database open(office const& in, proxy const& between) {
        settle::mariadb::options limits;
        limits.statement_timeout = 1s;
        limits.answer_timeout = 2s;
        // The server keeps the locks of a lost call for as long.
        limits.idle_timeout = 3s;
        return patiently(
            [&] { return receiver_database{address(in, between), "airline", limits}; });
    }
};

} // namespace

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

TEST_CASE("receivers: each call of a wave on MariaDB is answered for itself") {
    receiver_checks::check_wave_call_by_call<office>();
}
TEST_CASE("receivers: of two deliveries of one key at once on MariaDB, the handler sees one") {
    receiver_checks::check_two_deliveries<office>();
}
TEST_CASE("receivers: handlers on MariaDB that lock each other are called again") {
    receiver_checks::check_deadlock<office>();
}
TEST_CASE("receivers: waves on MariaDB with the same keys in other orders") {
    receiver_checks::check_orders_of_keys<network>();
}
TEST_CASE("receivers: processes on MariaDB that share keys take effect once for each") {
    receiver_checks::check_processes<office>();
}
TEST_CASE("receivers: receivers on MariaDB that make the tables at once") {
    receiver_checks::check_tables_at_once<office>();
}
TEST_CASE("receivers: a process on MariaDB that is killed in a handler leaves nothing") {
    receiver_checks::check_killed_process<office>();
}
TEST_CASE("receivers: a forked child must not use its parent's receiver on MariaDB") {
    receiver_checks::check_forked_child<office>();
}
TEST_CASE("long: receivers: a server of MariaDB that is killed under load") {
    receiver_checks::check_killed_server<office>();
}
TEST_CASE("receivers: every message of an apply on MariaDB is lost or late") {
    receiver_checks::lose_every_message_of<network>(call_operation::apply);
}
TEST_CASE("receivers: every message of a compensation on MariaDB is lost or late") {
    receiver_checks::lose_every_message_of<network>(call_operation::compensate);
}
TEST_CASE("receivers: every message of a confirm on MariaDB is lost or late") {
    receiver_checks::lose_every_message_of<network>(call_operation::confirm);
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
