// SPDX-License-Identifier: BSL-1.0
// Programs that book at a service over HTTP are killed, and others settle their sagas.
#include "killed_programs.hpp"

#include <program.hpp>
#include <receiver_calls.hpp>
#include <sql.hpp>

#include <settle/http.hpp>
#include <settle/http/receiver_server.hpp>
#include <settle/sqlite.hpp>
#include <settle/sqlite/receiver/receiver.hpp>

namespace smoke_test {

struct order {
    std::string payer;
    std::int64_t price = 0;
    std::int64_t seats = 0;
};
struct seats_request {
    std::int64_t seats = 0;
};
struct ticket {
    std::int64_t number = 0;
};

} // namespace smoke_test

SETTLE_STRUCT(smoke_test::order, payer, price, seats);
SETTLE_STRUCT(smoke_test::seats_request, seats);
SETTLE_STRUCT(smoke_test::ticket, number);

namespace smoke_test {

using settle::field, settle::param;
using settle::sqlite::receiver_session;

inline constexpr settle::service<seats_request, ticket, "airline", settle::barrier> airline;

inline constexpr auto order_type = settle::transaction<order, "order">(
    settle::participant<"payer">(bank::accounts, param<&order::payer>)
        .require(field<&bank::account::balance> >= param<&order::price>)
        .apply(field<&bank::account::balance> -= param<&order::price>)
        .compensate(settle::inverse),
    settle::participant<"flight">(airline)
        .apply(settle::call(param<&order::seats>))
        .confirm(settle::call())
        .compensate(settle::call()));

/// The airline's side of a call.
struct booking_desk {
    settle::service_answer apply(receiver_session& db, settle::service_call const& call) const {
        auto const request = settle::decode_json<seats_request>(call.request).value();
        db.change("INSERT INTO booking(key, seats, confirmed) VALUES(?1, ?2, 0)", call.key,
                  request.seats);
        auto const [number] = db.first<std::int64_t>("SELECT max(number) FROM booking").value();
        return settle::service_answer::ok(settle::encode_json(ticket{number}));
    }
    settle::service_answer confirm(receiver_session& db, settle::service_call const& call) const {
        db.change("UPDATE booking SET confirmed = confirmed + 1 WHERE key = ?1", call.key);
        return settle::service_answer::ok();
    }
    settle::service_answer compensate(receiver_session& db,
                                      settle::service_call const& call) const {
        db.change("DELETE FROM booking WHERE key = ?1", call.key);
        return settle::service_answer::ok();
    }
};

struct agency_world {
    std::string file;
    std::string service_file;
    std::string address;

    void open() const {
        use({}, [](auto& agency) { agency.create(bank::accounts, {"A", 1000, 1000}).value(); });
    }
    void run(watcher const& watch) const {
        use(watch, [](auto& agency) {
            for (;;) std::ignore = agency.run(order{"A", 10, 2});
        });
    }
    [[nodiscard]] std::string settle() const {
        std::string said;
        use({}, [&](auto& agency) { said = settle_all(agency); });
        return said;
    }
    [[nodiscard]] std::string fault() const {
        std::int64_t left = 0;
        std::int64_t count = 0;
        use({}, [&](auto& agency) {
            left = agency.at(bank::accounts, "A").balance;
            count = static_cast<std::int64_t>(agency.page({}, "", 1000).value().size());
        });
        settle::sqlite::receiver_database books{service_file, "airline"};
        std::int64_t seats = 0;
        std::int64_t confirmed = 0;
        books
            .change([&](receiver_session& db) {
                std::tie(seats, confirmed) = db.first<std::int64_t, std::int64_t>(
                                                   "SELECT sum(seats), sum(confirmed) FROM booking")
                                                 .value();
            })
            .value();
        if (left == 1000 - 10 * count && seats == 2 * count && confirmed == count) return {};
        return std::to_string(count) + " orders, " + std::to_string(left) + " left, " +
               std::to_string(seats) + " seats, " + std::to_string(confirmed) + " confirmed";
    }

private:
    template <typename Use>
    void use(watcher const& watch, Use const& use) const {
        settle::sqlite::database db{file};
        settle::http::client client{address};
        settle::engine agency{settle::log_in(db), settle::bind(bank::accounts, db),
                              settle::bind(airline, client), settle::type<order_type>,
                              settle::observed_by([&](settle::event const& seen) {
                                  if (watch) watch(seen);
                              })};
        use(agency);
    }
};

/// The airline in a process of its own, whose first line is its address.
[[nodiscard]] settle_test::child airline_with(std::string const& file) {
    return settle_test::child{[&](int to) {
        settle::sqlite::receiver_database db{file, "airline"};
        db.change([](receiver_session& own) {
              own.change("CREATE TABLE booking(number INTEGER PRIMARY KEY, key TEXT NOT NULL, "
                         "seats INTEGER NOT NULL, confirmed INTEGER NOT NULL)");
          }).value();
        settle::receiver receiver{db};
        settle::http::receiver_server const server{
            "/airline",
            [&](settle::service_call const& call) { return receiver.take(call, booking_desk{}); }};
        settle_test::say(to, server.address());
        for (;;) ::pause();
    }};
}

TEST_CASE("a program that books over HTTP is killed, and another settles its saga") {
    testing::scratch_folder const folder{"smoke-http"};
    auto const file = folder.at("airline.db");
    auto service = airline_with(file);
    kill_and_recover(agency_world{folder.at("agency.db"), file, service.line()});
}

TEST_CASE(
    "a key over HTTP takes effect once, for one request, in time, and not once it is undone") {
    using settle::call_operation, settle::call_status;
    testing::scratch_folder const folder{"smoke-keys"};
    auto const file = folder.at("airline.db");
    auto service = airline_with(file);
    settle::http::client client{service.line()};
    auto const send = [&](call_operation operation, std::string_view key, std::string_view request,
                          std::chrono::hours until_last_moment = std::chrono::hours{1}) {
        auto call = ::airline::made_call(operation, key, request);
        call.gives_result = true;
        call.last_moment = settle::system_environment{}.now() + until_last_moment;
        settle::service_answer answer;
        client.send({&call, 1}, {&answer, 1});
        INFO(answer.text);
        return answer;
    };
    constexpr std::string_view two = R"({"seats":2})";
    auto const bookings = [&] { return testing::ask(file, "SELECT count(*) FROM booking")[0][0]; };
    auto const first = send(call_operation::apply, "k1", two);
    CHECK(first.status == call_status::ok);
    CHECK(send(call_operation::apply, "k1", two).text == first.text);
    CHECK(send(call_operation::apply, "k1", R"({"seats":3})").status == call_status::refused);
    CHECK(bookings() == "1");
    CHECK(send(call_operation::compensate, "k1", two).status == call_status::ok);
    CHECK(send(call_operation::apply, "k1", two).status == call_status::refused);
    CHECK(send(call_operation::compensate, "k2", two).status == call_status::ok);
    CHECK(send(call_operation::apply, "k2", two).status == call_status::refused);
    CHECK(send(call_operation::apply, "k3", two, std::chrono::hours{-1}).status ==
          call_status::refused);
    CHECK(bookings() == "0");
}

} // namespace smoke_test
