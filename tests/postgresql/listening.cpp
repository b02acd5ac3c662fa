// SPDX-License-Identifier: BSL-1.0
// A listener is woken by a committed native transaction of any program, and by nothing else.
#include "proxy.hpp"
#include "sums.hpp"

#include <settle/postgresql.hpp>
#include <settle/settle.hpp>

#include <transfer/transfer.hpp>

namespace settle_test {
namespace {

using pg::listener;
using pg::detail::notify_sql;

void notify(pool& pool, std::string const& channel, bool commits = true) {
    native_transaction native{pool};
    auto const ended = native.perform(
        [&](connection& connection) {
            connection.send_sql(notify_sql(channel), "notify");
            if (!commits) throw settle::failure({settle::errc::damaged, "settle: refused"});
        },
        1s);
    CHECK((ended.status == commit_status::committed) == commits);
}

TEST_CASE("listening: a notification wakes, between two waits as well") {
    fresh_schema const own;
    proxy between{own.port()};
    pool pool{own.address_at(between.port(), proxy::options), patient_limits()};
    auto const has_passed = [&](int count) {
        return wait_until(60s, [&] { return between.notices() >= count; });
    };
    auto const channel = own.name() + " \"work\"";
    listener listener{pool, channel};
    CHECK_FALSE(listener.wait(50ms).value());
    notify(pool, channel);
    notify(pool, channel);
    REQUIRE(has_passed(2));
    CHECK(listener.wait(10s).value());
    CHECK_FALSE(listener.wait(50ms).value());
    notify(pool, channel, false);
    notify(pool, own.name());
    notify(pool, channel);
    // The server sends them in the order of their commits, so neither of the first two comes.
    REQUIRE(has_passed(3));
    CHECK(between.notices() == 3);
    CHECK(listener.wait(10s).value());
    CHECK_FALSE(listener.wait(50ms).value());
    std::thread later{[&] {
        std::this_thread::sleep_for(100ms);
        ask(own.address(), notify_sql(channel));
    }};
    auto const began = std::chrono::steady_clock::now();
    CHECK(listener.wait(std::chrono::hours::max()).value());
    CHECK(std::chrono::steady_clock::now() - began < 10min);
    later.join();
}

TEST_CASE("listening: a stop ends a wait") {
    fresh_schema const own;
    pool pool{own.address(), {}};
    listener listener{pool, own.name()};
    std::stop_source stop;
    std::thread later{[&] {
        std::this_thread::sleep_for(100ms);
        stop.request_stop();
    }};
    auto const forever = std::chrono::hours::max();
    CHECK_FALSE(listener.wait(forever, stop.get_token()).value());
    later.join();
    CHECK_FALSE(listener.wait(forever, stop.get_token()).value());
}

TEST_CASE("listening: a lost connection wakes, since a notification may be lost with it") {
    fresh_schema const own;
    auto const name = own.name();
    pool pool{own.address("application_name=" + name), short_limits()};
    listener listener{pool, name};
    ask(own.address(), "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
                       "WHERE application_name = '" +
                           name + "'");
    CHECK(listener.wait(10s).value());
    CHECK_FALSE(listener.wait(50ms).value());
    notify(pool, name);
    CHECK(listener.wait(10s).value());
}

TEST_CASE("listening: a server that is away is an error, and a wake when it is back") {
    postgresql_server server;
    pool pool{server.address(), short_limits()};
    listener listener{pool, "work"};
    server.kill();
    auto const away = listener.wait(10s);
    REQUIRE_FALSE(away.has_value());
    CHECK(away.problem().code == pg::not_connected);
    server.start();
    CHECK(listener.wait(10s).value());
    notify(pool, "work");
    CHECK(listener.wait(10s).value());
}

TEST_CASE("listening: a stop ends the tries to reach a server that is away") {
    postgresql_server server;
    auto limits = short_limits();
    limits.connect_timeout = 60s;
    pool pool{server.address(), limits};
    listener listener{pool, "work"};
    server.kill();
    std::stop_source stop;
    std::thread later{[&] {
        std::this_thread::sleep_for(200ms);
        stop.request_stop();
    }};
    auto const began = std::chrono::steady_clock::now();
    CHECK_FALSE(listener.wait(60s, stop.get_token()).value());
    CHECK(std::chrono::steady_clock::now() - began < 50s);
    later.join();
    CHECK_FALSE(listener.wait(60s, stop.get_token()).value());
}

TEST_CASE("listening: a submitted transaction wakes a worker, and a run does not") {
    fresh_schema const own;
    pg::database submits{own.address()};
    pg::database works{own.address()};
    settle::engine teller{submits, settle::type<bank::transfer_type>};
    settle::engine worker{works, settle::type<bank::transfer_type>};
    REQUIRE(teller.create(bank::accounts, {"A", 100, 100}).has_value());
    REQUIRE(teller.create(bank::accounts, {"B", 0, 0}).has_value());
    auto submitted = works.listen();
    CHECK(teller.run(bank::transfer{"A", "B", 10}).done());
    CHECK_FALSE(submitted.wait(100ms).value());
    std::thread later{[&] {
        std::this_thread::sleep_for(100ms);
        CHECK(teller.submit(bank::transfer{"A", "B", 20}).problem.empty());
    }};
    CHECK(submitted.wait(60s).value());
    later.join();
    CHECK(worker.work().done == 1);
    CHECK(teller.read(bank::accounts, "B").value()->balance == 30);
    CHECK_FALSE(submitted.wait(50ms).value());
}

TEST_CASE("listening: a submit whose commit has the last connection wakes a worker") {
    fresh_schema const own;
    pg::database_options limits;
    limits.connections = 1;
    pg::database submits{own.address(), limits};
    pg::database works{own.address()};
    settle::engine teller{submits, settle::type<bank::transfer_type>};
    auto submitted = works.listen();
    CHECK(teller.submit(bank::transfer{"A", "B", 20}).problem.empty());
    CHECK(submitted.wait(60s).value());
}

} // namespace
} // namespace settle_test
