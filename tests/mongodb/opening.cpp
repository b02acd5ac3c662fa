// SPDX-License-Identifier: BSL-1.0
// A primary is lost while a database is opened or its records are created: both wait for the next
// primary, as a transaction does.
#include "bank.hpp"
#include "proxy.hpp"
#include "shared_servers.hpp"

#include <atomic>
#include <thread>

namespace settle_test {
namespace {

using namespace std::chrono_literals;

std::vector<ledger> accounts(int count) {
    std::vector<ledger> records;
    for (int number = 0; number < count; ++number) {
        records.push_back({"L" + std::to_string(number), opening, 0, ""});
    }
    return records;
}

std::string refusal_of(settle::result<std::unique_ptr<settle::mongodb::database>> const& opened) {
    return opened.has_value() ? "" : opened.problem().text;
}

} // namespace

TEST_CASE("opening: a database opens although each answer is lost once") {
    fresh_database const own{replica_set_address};
    proxy between{own.port()};
    auto const address = between.address(own.name(), short_waits);
    // Beside these, an opening only finds.
    for (char const* const command :
         {"findAndModify", "listCollections", "create", "listIndexes", "createIndexes"}) {
        between.add({.command = command, .what = fault::drop_reply});
    }
    settle::mongodb::database db{address};
    auto engine = bank_on(db);
    between.clear_rules();
    // Each answer was lost. Then the request is repeated, or a read finds its effect.
    CHECK(between.requests("createIndexes") >= 1);
    for (char const* const command : {"findAndModify", "listCollections", "create"}) {
        CAPTURE(std::string{command});
        CHECK(between.requests(command) >= 2);
    }
    CHECK(between.requests("listIndexes") > 2);
    engine.create(ledgers, {"A", opening, 0, ""}).value();
    CHECK(balance(engine, "A") == opening);
    // An existing collection is only read.
    between.reset_counts();
    auto const again = bank_on(db);
    for (char const* const command :
         {"findAndModify", "create", "createIndexes", "insert", "update"}) {
        INFO(command);
        CHECK(between.requests(command) == 0);
    }
}

TEST_CASE("opening: a database opens although the answer to a greeting is lost") {
    fresh_database const own{replica_set_address};
    // The driver's own greetings, and settle's after them.
    for (int nth = 1; nth <= 4; ++nth) {
        CAPTURE(nth);
        proxy between{own.port()};
        between.add({.command = "isMaster", .nth = nth, .what = fault::drop_reply});
        auto const opened = settle::mongodb::database::open(between.address(own.name()));
        CHECK_MESSAGE(opened.has_value(), refusal_of(opened));
        // The driver may send its last greeting after the database is open.
        CHECK(wait_until(60s, [&] { return between.hits() == 1; }));
    }
}

TEST_CASE("opening: a database opens although the primary steps down before the greeting") {
    fresh_database const own{replica_set_address};
    auto const before = ":" + std::to_string(own.port());
    proxy between{own.port()};
    auto const there = ":" + std::to_string(between.port());
    REQUIRE(before.size() == there.size());
    for (int nth = 1; nth <= 4; ++nth) {
        CAPTURE(nth);
        std::atomic<int> struck{0};
        between.on_reply([&, nth, greetings = 0](wire_message& message) mutable {
            message.replace(before, there);
            if (message.command != "isMaster" || ++greetings != nth) return;
            auto const unchanged = message.bytes;
            message.replace({"\x08ismaster\0\x01", 11}, {"\x08ismaster\0\0", 11});
            if (message.bytes != unchanged) ++struck;
        });
        auto const opened = settle::mongodb::database::open("mongodb://127.0.0.1" + there + "/" +
                                                            own.name() + "?replicaSet=settle");
        CHECK_MESSAGE(opened.has_value(), refusal_of(opened));
        CHECK(wait_until(60s, [&] { return struck == 1; }));
        between.on_reply(nullptr);
    }
}

TEST_CASE("opening: a login is repeated after a network error, not after a refusal") {
    using namespace settle::mongodb::detail;
    auto const describe_login = [](char const* text) {
        bson_error_t problem{};
        bson_set_error(&problem, MONGOC_ERROR_CLIENT, MONGOC_ERROR_CLIENT_AUTHENTICATE, "%s", text);
        return describe(problem, "find records");
    };
    auto const cut =
        describe_login("Failed to send \"saslContinue\" command with database \"admin\": Failed "
                       "to read 4 bytes: socket error or timeout");
    CHECK(cut.code == settle::condition::retryable);
    CHECK(is_lost_primary(cut.code));
    CHECK(cut.text.find("password") == std::string::npos);
    for (char const* const text : {"Authentication failed.", "bad auth : authentication failed",
                                   "Received authentication for mechanism PLAIN"}) {
        auto const refused = describe_login(text);
        INFO(text);
        CHECK(refused.code == settle::condition::permanent);
        CHECK(!is_lost_primary(refused.code));
        CHECK(refused.text.find("Check the name, the password") != std::string::npos);
    }
}

TEST_CASE("opening: an oversized record does not stop the creation of others") {
    for (auto* const server : {&standalone_address, &replica_set_address}) {
        fresh_database const own{*server};
        settle::mongodb::database db{own.address()};
        auto engine = bank_on(db);
        auto all = accounts(3);
        all[1].label = std::string(17U << 20U, 'x');
        auto const report = engine.create_all(ledgers, all);
        CHECK(report.created == 2);
        REQUIRE(report.refused.size() == 1);
        CHECK(report.refused.front().problem.text.find("17825") != std::string::npos);
        CHECK(balance(engine, "L2") == opening);
    }
}

TEST_CASE("opening: records with a lost acknowledgement are created once and reported as created") {
    for (auto* const server : {&standalone_address, &replica_set_address}) {
        fresh_database const own{*server};
        proxy between{own.port()};
        settle::mongodb::database db{between.address(own.name(), short_waits)};
        auto engine = bank_on(db);
        engine.create(ledgers, {"L3", 7, 0, "there before"}).value();
        between.add({.command = "insert", .what = fault::drop_reply});
        auto const report = engine.create_all(ledgers, accounts(20));
        CHECK(report.problem.empty());
        CHECK(report.created == 19);
        CHECK(report.existing == 1);
        CHECK(report.refused.empty());
        CHECK(engine.read(ledgers, "L3").value()->balance == 7);
        CHECK(balance(engine, "L19") == opening);
    }
}

TEST_CASE("opening: records are created once the server is back, else the error says it is away") {
    fresh_database const own{replica_set_address};
    proxy between{own.port()};
    settle::mongodb::database db{between.address(own.name(), short_waits)};
    auto engine = bank_on(db);
    auto const lose = [&] {
        between.refuse(true);
        between.cut_connections();
    };
    lose();
    {
        std::jthread const returns{[&] {
            std::this_thread::sleep_for(300ms);
            between.refuse(false);
        }};
        auto const report = engine.create_all(ledgers, accounts(5));
        CHECK(report.created == 5);
        CHECK_MESSAGE(report.problem.empty(), report.problem);
    }
    lose();
    settle::batch_options soon;
    soon.window = 2;
    soon.deadline = 100ms;
    auto const report = engine.create_all(ledgers, accounts(9), soon);
    CHECK(report.created + report.existing == 0);
    CHECK(report.refused.size() == 2);
    CHECK(report.problem.text.starts_with("settle: "));
    between.refuse(false);
}

} // namespace settle_test
