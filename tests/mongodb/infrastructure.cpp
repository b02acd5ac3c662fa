// SPDX-License-Identifier: BSL-1.0
// The tests' own servers, fresh databases and bad network work as the tests of the adapter need.
#include "commands.hpp"
#include "proxy.hpp"
#include "servers.hpp"
#include "shared_servers.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <future>
#include <stdexcept>
#include <string>
#include <thread>

namespace {

using namespace std::chrono_literals;
using namespace settle_test;

/// An insert that is acknowledged when a majority has it in its journals.
std::string insert(int id) {
    return R"({"insert": "things", "documents": [{"_id": )" + std::to_string(id) +
           R"(}], "writeConcern": {"w": "majority", "j": true}})";
}

/// The number of documents, read without a proxy. (The command "count" may return a wrong number
/// after a server was killed.)
std::int64_t count(std::string const& address) {
    auto const answer = run_command(address, R"({"aggregate": "things", "cursor": {},
                                                 "pipeline": [{"$count": "n"}]})");
    REQUIRE_MESSAGE(answer.ok, answer.error);
    return answer.number("cursor.firstBatch.0.n").value_or(0);
}

} // namespace

TEST_CASE("infrastructure: the shared servers take writes, and each test has its own database") {
    std::string dropped;
    for (auto* const address_of : {standalone_address, replica_set_address}) {
        fresh_database const first{*address_of};
        fresh_database const second{*address_of};
        CHECK(first.name() != second.name());
        auto const wrote = run_command(first.address(), insert(1));
        CHECK_MESSAGE(wrote.ok, wrote.error);
        CHECK(count(first.address()) == 1);
        CHECK(count(second.address()) == 0);
        auto const again = run_command(first.address(), insert(1));
        CHECK_FALSE(again.ok);
        CHECK(again.code == 11000);
        dropped = first.name();
    }
    auto const names =
        run_command(replica_set_address("admin"), R"({"listDatabases": 1, "nameOnly": true})");
    REQUIRE_MESSAGE(names.ok, names.error);
    CHECK(names.json().find("\"admin\"") != std::string::npos);
    CHECK(names.json().find(dropped) == std::string::npos);
}

TEST_CASE("infrastructure: the shared servers are a replica set and a single server") {
    auto const member = run_command(replica_set_address("admin"), R"({"hello": 1})");
    CHECK(member.text("setName") == "settle");
    CHECK(member.truth("isWritablePrimary"));
    auto const alone = run_command(standalone_address("admin"), R"({"hello": 1})");
    CHECK(alone.ok);
    CHECK(alone.text("setName") == "");
}

TEST_CASE("infrastructure: a fail point hits only the client that it names") {
    fresh_database const things{replica_set_address};
    auto const set =
        run_command(replica_set_address("admin"),
                    R"({"configureFailPoint": "failCommand", "mode": {"times": 1}, "data": {
            "failCommands": ["insert"], "errorCode": 91, "appName": ")" +
                        things.name() + "\"}}");
    REQUIRE_MESSAGE(set.ok, set.error);
    CHECK(run_command(things.address(), insert(1)).ok);
    auto const failed = run_command(things.address() + "&appName=" + things.name(), insert(2));
    CHECK_FALSE(failed.ok);
    CHECK(failed.code == 91);
    CHECK(count(things.address()) == 1);
}

TEST_CASE("infrastructure: a proxy passes all messages and counts the commands") {
    fresh_database const things{replica_set_address};
    proxy between{things.port()};
    connection client{between.address(things.name())};
    for (int id : {1, 2, 3}) CHECK(client.run(insert(id)).ok);
    CHECK(client.run(R"({"count": "things"})").number("n") == 3);
    CHECK(between.requests("insert") == 3);
    CHECK(between.replies("insert") == 3);
    CHECK(between.requests("count") == 1);
    CHECK(between.requests() == 4);
    // Large messages arrive in many pieces.
    auto const large = R"({"insert": "things", "documents": [{"_id": 4, "text": ")" +
                       std::string(5'000'000, 'x') + "\"}]}";
    CHECK(client.run(large).ok);
    auto const whole = client.run(R"({"find": "things", "filter": {"_id": 4}})");
    CHECK(whole.text("cursor.firstBatch.0.text").size() == 5'000'000);
    between.reset_counts();
    CHECK(between.requests() == 0);
}

TEST_CASE("infrastructure: a proxy drops the request or the reply that a rule names") {
    struct example {
        fault what;
        int there; ///< how many of three inserts took effect
    };
    for (example const each :
         {example{fault::drop_request, 2}, {fault::drop_reply, 3}, {fault::cut_reply, 3}}) {
        CAPTURE(static_cast<int>(each.what));
        fresh_database const things{standalone_address};
        proxy between{things.port()};
        between.add({.command = "insert", .nth = 2, .what = each.what});
        connection client{between.address(things.name(), "retryWrites=false")};
        CHECK(client.run(insert(1)).ok);
        auto const lost = client.run(insert(2));
        CHECK_FALSE(lost.ok);
        CHECK(lost.domain == MONGOC_ERROR_STREAM);
        CHECK(count(things.address()) == each.there - 1);
        CHECK(run_command(between.address(things.name()), insert(3)).ok);
        CHECK(count(things.address()) == each.there);
        CHECK(between.requests("insert") == 3);
        CHECK(between.replies("insert") == each.there);
    }
}

TEST_CASE("infrastructure: a delayed request arrives after its client has given up") {
    for (auto const what : {fault::delay_request, fault::hold_request}) {
        CAPTURE(static_cast<int>(what));
        fresh_database const things{standalone_address};
        proxy between{things.port()};
        between.add({.command = "insert", .what = what, .time = 2s});
        auto const began = std::chrono::steady_clock::now();
        CHECK_FALSE(
            run_command(between.address(things.name(), "socketTimeoutMS=150"), insert(1)).ok);
        if (what == fault::hold_request) {
            CHECK(count(things.address()) == 0);
            CHECK(between.replies("insert") == 0);
            between.release();
        }
        REQUIRE(between.wait_for_replies("insert", 1, 30s));
        if (what == fault::delay_request) CHECK(std::chrono::steady_clock::now() - began >= 2s);
        CHECK(count(things.address()) == 1);
    }
}

TEST_CASE("infrastructure: a held request or reply arrives when it is released") {
    for (bool const request : {true, false}) {
        CAPTURE(request);
        fresh_database const things{standalone_address};
        proxy between{things.port()};
        between.add(
            {.command = "insert", .what = request ? fault::hold_request : fault::hold_reply});
        auto client = std::async(std::launch::async, [&] {
            return run_command(between.address(things.name()), insert(1));
        });
        bool const arrived = wait_until(30s, [&] {
            return request ? between.requests("insert") == 1 : count(things.address()) == 1;
        });
        bool const held = client.wait_for(200ms) == std::future_status::timeout;
        auto const there = count(things.address());
        between.release();
        auto const answer = client.get();
        CHECK(arrived);
        CHECK(held);
        CHECK(there == (request ? 0 : 1));
        CHECK_MESSAGE(answer.ok, answer.error);
        CHECK(count(things.address()) == 1);
    }
}

TEST_CASE("infrastructure: a delayed reply is late, and an impatient client gets an error") {
    fresh_database const things{standalone_address};
    proxy between{things.port()};
    between.add({.what = fault::delay_reply, .time = 300ms});
    between.add({.nth = 2, .what = fault::delay_reply, .time = 1h});
    auto const began = std::chrono::steady_clock::now();
    CHECK(run_command(between.address(things.name()), insert(1)).ok);
    CHECK(std::chrono::steady_clock::now() - began >= 300ms);
    CHECK_FALSE(run_command(between.address(things.name(), "socketTimeoutMS=100"), insert(2)).ok);
    // The server may still work on the insert. Its reply is counted before the delay.
    REQUIRE(between.wait_for_replies("insert", 2, 30s));
    CHECK(count(things.address()) == 2);
}

TEST_CASE("infrastructure: a black hole stops all messages and passes them on afterwards") {
    fresh_database const things{standalone_address};
    proxy between{things.port()};
    connection client{between.address(things.name(), "socketTimeoutMS=2000")};
    CHECK(client.run(insert(1)).ok);
    between.black_hole(true);
    CHECK_FALSE(client.run(insert(2)).ok);
    CHECK(between.requests("insert") == 2);
    CHECK(count(things.address()) == 1);
    between.black_hole(false);
    REQUIRE(between.wait_for_replies("insert", 2));
    CHECK(count(things.address()) == 2);
}

TEST_CASE("infrastructure: a proxy refuses and cuts connections like a dead server") {
    fresh_database const things{standalone_address};
    proxy between{things.port()};
    connection client{between.address(things.name())};
    CHECK(client.run(insert(1)).ok);
    between.cut_connections();
    CHECK_FALSE(client.run(insert(2)).ok);
    between.refuse(true);
    CHECK_FALSE(run_command(between.address(things.name()), insert(3)).ok);
    between.refuse(false);
    CHECK(run_command(between.address(things.name()), insert(4)).ok);
    CHECK(count(things.address()) == 2);
}

TEST_CASE("infrastructure: a proxy makes a server look like another version") {
    proxy between{fresh_database{standalone_address}.port()};
    between.on_reply([](wire_message& message) { message.set_int32("maxWireVersion", 2); });
    auto const refused = run_command(between.address("admin"), R"({"ping": 1})");
    CHECK_FALSE(refused.ok);
    CHECK(refused.error.find("wire version 2") != std::string::npos);
    CHECK(between.requests("ping") == 0);
    between.on_reply(nullptr);
    CHECK(run_command(between.address("admin"), R"({"ping": 1})").ok);
}

TEST_CASE("infrastructure: a proxy ends while messages are delayed and held") {
    auto const began = std::chrono::steady_clock::now();
    std::thread client;
    std::thread other;
    {
        fresh_database const things{standalone_address};
        proxy between{things.port()};
        between.add({.command = "insert", .what = fault::delay_request, .time = 1h});
        between.add({.command = "count", .what = fault::hold_reply});
        auto const address = between.address(things.name());
        client = std::thread{[=] { run_command(address, insert(1)); }};
        other = std::thread{[=] { run_command(address, R"({"count": "things"})"); }};
        for (int i = 0; i < 500 && between.requests() < 2; ++i) std::this_thread::sleep_for(10ms);
        CHECK(between.requests() == 2);
    }
    client.join();
    other.join();
    CHECK(std::chrono::steady_clock::now() - began < 10min);
}

TEST_CASE("infrastructure: a killed server keeps acknowledged writes") {
    server own;
    auto const address = own.address("things");
    REQUIRE(run_command(address, insert(1)).ok);
    auto const first = own.pid();
    own.kill();
    CHECK_FALSE(own.running());
    CHECK_FALSE(run_command(address, insert(2)).ok);
    own.start();
    CHECK(own.pid() != first);
    CHECK(count(address) == 1);
    own.freeze();
    CHECK_FALSE(
        run_command(own.address("things", "socketTimeoutMS=200&connectTimeoutMS=200"), insert(3))
            .ok);
    own.thaw();
    CHECK(run_command(address, insert(4)).ok);
    own.stop();
    CHECK_FALSE(own.running());
    own.start();
    // The frozen server may have received this write and applied it after all.
    auto const there = count(address);
    CHECK(there >= 2);
    CHECK(there <= 3);
}

TEST_CASE("infrastructure: a server that cannot start says why") {
    arguments const wrong{"--setParameter", "noSuchParameter=1"};
    CHECK_THROWS_WITH_AS(server{wrong}, doctest::Contains("does not come up"), std::runtime_error);
}
