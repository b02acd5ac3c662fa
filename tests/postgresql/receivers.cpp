// SPDX-License-Identifier: BSL-1.0
// The receiver on PostgreSQL: rows and work in one native transaction.
#include "proxy.hpp"
#include "receiver_office.hpp"

namespace postgresql_receivers {
namespace {

struct watched_network {
    using office = postgresql_receivers::office;
    using proxy = settle_test::proxy;
    static std::string address(office const& in, proxy const& between) {
        return in.own.address_at(between.port(),
                                 std::string{proxy::options} + "&" + in.application());
    }
};

} // namespace

TEST_CASE("receivers: the receiver on PostgreSQL has the grade barrier") {
    receiver_checks::check_grade<office>();
}
TEST_CASE("receivers: a refusal on PostgreSQL undoes the work, and its row is stored alone") {
    receiver_checks::check_refusal<office>();
}
TEST_CASE("receivers: a key on PostgreSQL that comes with another request is refused") {
    receiver_checks::check_another_request<office>();
}
TEST_CASE("receivers: a confirm on PostgreSQL whose row was lost is for a person") {
    receiver_checks::check_lost_row<office>();
}
TEST_CASE("receivers: work on PostgreSQL that fails is undone and may be sent again") {
    receiver_checks::check_failed_work<office>();
}
TEST_CASE("receivers: threads on PostgreSQL that share keys take effect once for each") {
    receiver_checks::check_threads<office>();
}
TEST_CASE("receivers: rows on PostgreSQL are listed and purged") {
    receiver_checks::check_rows<office>();
}
TEST_CASE("receivers: a schema of another receiver is refused") {
    receiver_checks::check_owner<office>();
}
TEST_CASE("receivers: statements that end the native transaction are refused on PostgreSQL") {
    office in;
    for (auto const* sql :
         {"COMMIT", " \n rollback", "/* a /* b */ COMMIT */ ; End", "-- a\nBEGIN", "ABORT",
          "PREPARE TRANSACTION 'x'", "SAVEPOINT a", "RELEASE settle_work", "START TRANSACTION",
          "ROLLBACK TO settle_work", "EXECUTE \"COMMIT\""}) {
        CAPTURE(sql);
        auto const ending = applying<office>([&](receiver_session& db, service_call const& call) {
            auto answer = seats{}.apply(db, call);
            db.execute(sql);
            return answer;
        });
        auto const answer = in.airline_receiver.take(made_call(call_operation::apply, "a"), ending);
        CHECK(answer.status == call_status::unavailable);
        CHECK_MESSAGE(contains(answer.text, "Remove this statement: "), answer.text);
        CHECK(in.bookings() == 0);
    }
    // The server refuses these itself.
    for (auto const* sql : {"SELECT 1; COMMIT", "DO $$ BEGIN COMMIT; END $$"}) {
        CAPTURE(sql);
        auto const ending = applying<office>([&](receiver_session& db, service_call const& call) {
            auto answer = seats{}.apply(db, call);
            db.execute(sql);
            return answer;
        });
        auto const answer = in.airline_receiver.take(made_call(call_operation::apply, "a"), ending);
        CHECK(answer.status == call_status::unavailable);
        CHECK(in.bookings() == 0);
    }
    CHECK_FALSE(in.airline_receiver.find("a").value());
}

TEST_CASE("receivers: each call of a wave on PostgreSQL is answered for itself") {
    receiver_checks::check_wave_call_by_call<office>();
}

TEST_CASE("receivers: what a handler on PostgreSQL sets does not meet the next call of its wave") {
    office in;
    auto const handler = applying<office>([&](receiver_session& db, service_call const& call) {
        std::string const zone{db.query("SHOW TimeZone").text(0, 0)};
        for (char const* const sql : {"SELECT set_config('TimeZone', 'Asia/Tokyo', true)",
                                      "SELECT set_config('search_path', 'pg_catalog', false)"}) {
            static_cast<void>(db.query(sql));
        }
        return service_answer::ok('"' + zone + ' ' + std::string{call.key} + '"');
    });
    std::vector<service_call> const calls{made_call(call_operation::apply, "a"),
                                          made_call(call_operation::apply, "b")};
    std::vector<service_answer> answers(calls.size());
    in.airline_receiver.take_all(calls, answers, handler);
    CHECK(answers[0] == service_answer::ok(R"("UTC a")"));
    CHECK(answers[1] == service_answer::ok(R"("UTC b")"));
}

TEST_CASE("receivers: an error at the commit on PostgreSQL undoes its own call only") {
    office in;
    ask(in.own.address(),
        "CREATE TABLE size(people bigint PRIMARY KEY); INSERT INTO size VALUES(1);"
        "ALTER TABLE booking ADD FOREIGN KEY (people) REFERENCES size "
        "DEFERRABLE INITIALLY DEFERRED");
    std::array const calls{made_call(call_operation::apply, "a", "1"),
                           made_call(call_operation::apply, "b", "2"),
                           made_call(call_operation::apply, "c", "1")};
    std::array<service_answer, 3> answers;
    in.airline_receiver.take_all(calls, answers, seats{});
    CHECK(answers[0].status == call_status::ok);
    CHECK(answers[1].status == call_status::unavailable);
    CHECK_MESSAGE(contains(answers[1].text, "foreign key"), answers[1].text);
    CHECK(answers[2].status == call_status::ok);
    CHECK(in.effects() == 2);
    CHECK_FALSE(in.airline_receiver.find("b").value());
}

TEST_CASE("receivers: the round trips of calls on PostgreSQL") {
    office in{1000};
    proxy between{in.own.port()};
    receiver_database db{in.own.address_at(between.port(), proxy::options), "airline"};
    settle::receiver airline_receiver{db};
    auto const cost = [&](std::vector<service_call> const& calls) {
        std::vector<service_answer> answers(calls.size());
        between.reset_counts();
        airline_receiver.take_all(calls, answers, seats{});
        for (auto const& one : answers) CHECK_MESSAGE(one.status == call_status::ok, one.text);
        return between.requests();
    };
    std::vector<service_call> const three{made_call(call_operation::apply, "a"),
                                          made_call(call_operation::apply, "b"),
                                          made_call(call_operation::apply, "c")};
    // The handler has three statements. One more round trip puts the session right.
    CHECK(cost(three) == 2 + 3 * 3 + 1);
    CHECK(cost({made_call(call_operation::apply, "d")}) == 2 + 3 + 1);
    CHECK(cost(three) == 2);
    CHECK(cost({made_call(call_operation::confirm, "a"),
                made_call(call_operation::confirm, "b")}) == 2 + 2 + 1);
}

TEST_CASE("receivers: of two deliveries of one key at once on PostgreSQL, the handler sees one") {
    receiver_checks::check_two_deliveries<office>();
}

TEST_CASE("receivers: handlers on PostgreSQL that lock each other are called again") {
    receiver_checks::check_deadlock<office>();
}

TEST_CASE("receivers: waves on PostgreSQL with the same keys in other orders") {
    receiver_checks::check_orders_of_keys<watched_network>();
}

TEST_CASE("receivers: processes on PostgreSQL that share keys take effect once for each") {
    receiver_checks::check_processes<office>();
}

TEST_CASE("receivers: receivers on PostgreSQL that make the tables at once") {
    receiver_checks::check_tables_at_once<office>();
}

TEST_CASE("receivers: a process on PostgreSQL that is killed in a handler leaves nothing") {
    receiver_checks::check_killed_process<office>();
}

TEST_CASE("receivers: a forked child must not use its parent's receiver on PostgreSQL") {
    receiver_checks::check_forked_child<office>();
}

TEST_CASE("long: receivers: a server of PostgreSQL that is killed under load") {
    receiver_checks::check_killed_server<office>();
}

} // namespace postgresql_receivers
