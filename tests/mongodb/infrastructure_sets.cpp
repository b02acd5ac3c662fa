// SPDX-License-Identifier: BSL-1.0
// A replica set of three servers, started by a test, elects another primary after every fault.
#include "commands.hpp"
#include "proxied_set.hpp"
#include "servers.hpp"

#include <program.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>

namespace {

using namespace std::chrono_literals;
using namespace settle_test;

/// Writes until it is acknowledged, as a client that knows its write may be repeated.
void write(replica_set const& set, int id) {
    auto const text = std::to_string(id);
    auto const command = R"({"update": "things", "updates": [{"q": {"_id": )" + text +
                         R"(}, "u": {"$set": {"there": true}}, "upsert": true}],
                         "writeConcern": {"w": "majority", "j": true}})";
    // A frozen server accepts connections and sends no reply.
    auto const address = set.address("bank") +
                         "&serverSelectionTryOnce=false&serverSelectionTimeoutMS=5000"
                         "&connectTimeoutMS=500&socketTimeoutMS=3000";
    auto const end = std::chrono::steady_clock::now() + 30s;
    reply answer;
    do {
        answer = run_command(address, command);
    } while (!answer.ok && std::chrono::steady_clock::now() < end);
    CHECK_MESSAGE(answer.ok, answer.error);
}

std::int64_t count(replica_set const& set) {
    auto const answer = run_command(set.address("bank"), R"({"aggregate": "things", "cursor": {},
        "pipeline": [{"$count": "n"}], "readConcern": {"level": "majority"}})");
    CHECK_MESSAGE(answer.ok, answer.error);
    return answer.number("cursor.firstBatch.0.n").value_or(0);
}

} // namespace

TEST_CASE("long: sets: three servers replace a primary that is killed, frozen or stepped down" *
          doctest::test_suite("three servers")) {
    replica_set set;
    REQUIRE(set.size() == 3);
    write(set, 1);

    auto const killed = set.kill_primary();
    CHECK_FALSE(set.member(killed).running());
    CHECK(set.wait_for_primary() != killed);
    write(set, 2);
    set.restart(killed);
    set.wait_until_whole();

    auto const frozen = set.freeze_primary();
    CHECK(set.wait_for_primary() != frozen);
    write(set, 3);
    set.thaw(frozen);
    CHECK(set.wait_until_whole() != frozen);

    auto const before = set.step_down();
    CHECK(set.primary() != before);
    write(set, 4);
    CHECK(count(set) == 4);
}

TEST_CASE("long: sets: a client sees three servers only through proxies, and fails over there" *
          doctest::test_suite("three servers")) {
    replica_set set;
    proxied_set between{set};
    connection client{between.address("bank") + "&serverSelectionTryOnce=false&retryWrites=false"
                                                "&socketTimeoutMS=5000&connectTimeoutMS=500"};
    auto const insert = [&](int id) {
        return client.run(R"({"insert": "things", "documents": [{"_id": )" + std::to_string(id) +
                          R"(}], "writeConcern": {"w": "majority"}})");
    };
    auto const first = set.wait_for_primary();
    CHECK(insert(1).ok);
    CHECK(between.before(first).requests("insert") == 1);
    between.add({.command = "insert", .what = fault::cut_reply});
    CHECK_FALSE(insert(2).ok);
    CHECK(count(set) == 2);

    set.kill_primary();
    auto const second = set.wait_for_primary();
    REQUIRE(second != first);
    between.before(second).clear_rules();
    // The client may still have to learn of the election.
    int id = 3;
    while (id < 30 && !insert(id).ok) ++id;
    CHECK(id < 30);
    CHECK(between.before(second).requests("insert") >= 1);
    CHECK(count(set) >= 3);
}

TEST_CASE("sets: a replica set can ask for a name and a password") {
    testing::scratch_folder const folder{"mongodb-key"};
    auto const key = folder.write("key", "bm90aGluZyB0aGF0IGlzIHNlY3JldA");
    std::filesystem::permissions(key, std::filesystem::perms::owner_read);
    replica_set set{1, {"--auth", "--keyFile", key}};
    // Without any user, a client of this host may create the first user.
    auto const made = run_command(set.address("admin"), R"({"createUser": "root", "pwd": "word",
        "roles": ["root"]})");
    REQUIRE_MESSAGE(made.ok, made.error);
    auto const ping = R"({"count": "things"})";
    auto const as = [&](std::string const& user) {
        return run_command("mongodb://" + user + set.member(0).host() + "/admin", ping);
    };
    CHECK(as("root:word@").ok);
    auto const wrong = as("root:sword@");
    CHECK_FALSE(wrong.ok);
    CHECK(wrong.error.find("Authentication failed") != std::string::npos);
    CHECK(as("").code == 13);
    set.log_in("root:word");
    CHECK(set.wait_until_whole() == 0);
}

TEST_CASE("long: sets: a restarted replica set has its acknowledged writes" *
          doctest::test_suite("three servers")) {
    replica_set set;
    write(set, 1);
    set.stop_all();
    for (std::size_t i = 0; i < set.size(); ++i) CHECK_FALSE(set.member(i).running());
    CHECK_FALSE(set.primary().has_value());
    set.start_all();
    write(set, 2);
    CHECK(count(set) == 2);
    // One of three members is not a majority, and steps down.
    auto const last = set.wait_until_whole();
    for (std::size_t i = 0; i < set.size(); ++i) {
        if (i != last) set.member(i).kill();
    }
    auto const end = std::chrono::steady_clock::now() + 30s;
    while (set.primary() && std::chrono::steady_clock::now() < end) {
    }
    CHECK_FALSE(set.primary().has_value());
    CHECK_THROWS_AS(set.wait_for_primary(100ms), std::runtime_error);
}
