// SPDX-License-Identifier: BSL-1.0
// A log and records in several databases of one replica set.
#include "fixtures.hpp"
#include "one_store_suite.hpp"
#include "proxy.hpp"

#include <atomic>

namespace settle_test {
namespace {

using namespace one_store;

/// Databases of a server or set, each alone in its use.
struct databases {
    explicit databases(fresh_database::address_of& address)
        : bank{address}, goods{address}, log{address} {}

    fresh_database const bank;
    fresh_database const goods;
    fresh_database const log;
};

} // namespace

TEST_CASE("one store: databases of one client share a native transaction") {
    databases const own{replica_set_address};
    settle::mongodb::database bank{own.bank.address()};
    settle::mongodb::database goods{bank, own.goods.name()};
    settle::mongodb::database log{goods, own.log.name()};
    CHECK(steps_of_order(log, bank, goods, 1) == one_phase);
    // Another engine: the log is beside some of the records.
    CHECK(steps_of_order(log, log, log, 2) == one_phase);
    check_recovery(log, bank, goods);
    // Other clients of the same set are another store.
    settle::mongodb::database others{own.goods.address()};
    CHECK(steps_of_order(log, bank, others, 3) == late);
}

TEST_CASE("one store: databases of a single server have no native transactions") {
    databases const own{standalone_address};
    settle::mongodb::database bank{own.bank.address()};
    settle::mongodb::database goods{bank, own.goods.name()};
    settle::mongodb::database log{bank, own.log.name()};
    CHECK(steps_of_order(log, bank, goods, 1) != one_phase);
}

TEST_CASE("one store: the name of another database is checked") {
    databases const own{replica_set_address};
    settle::mongodb::database const bank{own.bank.address()};
    for (std::string const name : {"", "admin"}) {
        CHECK_THROWS_AS((settle::mongodb::database{bank, name}), settle::failure);
    }
}

TEST_CASE("one store: an order over three databases commits once") {
    databases const own{replica_set_address};
    std::atomic<int> commits = 0;
    proxy between{own.bank.port()};
    between.on_request([&](wire_message const& message) {
        auto const name = message.name_of_command();
        bool const writes = name == "insert" || name == "update" || name == "delete";
        std::string const bytes{message.bytes.begin(), message.bytes.end()};
        bool const is_alone = bytes.find("autocommit") == std::string::npos;
        if (name == "commitTransaction" || (writes && is_alone)) ++commits;
    });
    settle::mongodb::database bank{between.address(own.bank.name())};
    settle::mongodb::database goods{bank, own.goods.name()};
    settle::mongodb::database log{bank, own.log.name()};
    auto const commits_of = [&](auto& engine, std::string const& id) {
        commits = 0;
        CHECK(engine.run(id, order{"A", 1, {{1, 1}}}).done());
        return commits.load();
    };
    auto together = engine_over(log, bank, goods);
    together.create(ledgers, {"A", 100, 0, ""}).value();
    together.create(shelves, {1, 10}).value();
    CHECK(commits_of(together, "t1") == 1);
    CHECK(commits_of(together, "t2") == 1);
    settle::mongodb::database apart{between.address(own.goods.name())};
    auto two = engine_over(log, bank, apart);
    // Apply, decision, confirm and close.
    CHECK(commits_of(two, "t3") == 4);
}

} // namespace settle_test
