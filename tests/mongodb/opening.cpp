// SPDX-License-Identifier: BSL-1.0
// A primary is lost while a database is opened, or its records are created: both wait for the next
// one, as a transaction does.
#include "bank.hpp"
#include "proxy.hpp"
#include "shared_servers.hpp"

#include <thread>

namespace settle_test {
namespace {

using namespace std::chrono_literals;

std::vector<ledger> accounts(int count) {
    std::vector<ledger> all;
    for (int number = 0; number < count; ++number) {
        all.push_back({"L" + std::to_string(number), opening, 0, ""});
    }
    return all;
}

} // namespace

TEST_CASE("a database is opened although the answer to each of its commands is lost once") {
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
    CHECK(between.requests("listIndexes") > 2);
    engine.create(ledgers, {"A", opening, 0, ""}).value();
    CHECK(balance(engine, "A") == opening);
    // What is there already is only looked at.
    between.reset_counts();
    auto const again = bank_on(db);
    for (char const* const command :
         {"findAndModify", "create", "createIndexes", "insert", "update"}) {
        INFO(command);
        CHECK(between.requests(command) == 0);
    }
}

TEST_CASE("records whose acknowledgement is lost are created once, and told as created") {
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

TEST_CASE("records are created when a server is there again, or a sentence says that it is away") {
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
