// SPDX-License-Identifier: BSL-1.0
// Callbacks that call the engine while the driver has one connection, and databases after fork().
#include "bank.hpp"
#include "shared_servers.hpp"

#include <settle/memory.hpp>

#include <functional>
#include <memory>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

namespace {

using namespace settle_test;

/// A limit after which the test is over, so that a deadlock is seen.
class time_limit_of_test {
public:
    time_limit_of_test() { ::alarm(900); }
    time_limit_of_test(time_limit_of_test const&) = delete;
    time_limit_of_test& operator=(time_limit_of_test const&) = delete;
    ~time_limit_of_test() { ::alarm(0); }
};

struct observer {
    std::function<void(settle::event const&)>* action;
    void operator()(settle::event const& seen) const {
        if (*action) (*action)(seen);
    }
};

TEST_CASE("callbacks: every callback may call the engine with one connection") {
    time_limit_of_test const limit;
    for (auto const how : {settle::phases::one, settle::phases::two}) {
        for (auto* const address : {&replica_set_address, &standalone_address}) {
            fresh_database const own{*address};
            bool const has_options = own.address().find('?') != std::string::npos;
            settle::mongodb::database db{own.address() + (has_options ? "&" : "?") +
                                         "maxPoolSize=1"};
            std::function<void(settle::event const&)> action;
            settle::engine engine{db, how, settle::type<settle::testing::move_type>,
                                  settle::observed_by(observer{&action})};
            engine.create(ledgers, {"A", opening, 0, ""}).value();
            engine.create(ledgers, {"B", 0, 0, ""}).value();
            int inner = 0;
            auto const call = [&] {
                auto const watching = std::exchange(action, nullptr);
                auto const id = "inner" + std::to_string(++inner);
                CHECK(engine.run(id, transfer{"A", "B", 1}).done());
                CHECK(engine.find(id).value()->state == settle::state::done);
                std::vector const two(2, transfer{"A", "B", 1});
                for (auto const& outcome : engine.run_all(two)) CHECK(outcome.done());
                CHECK(engine.read(ledgers, "A").value().has_value());
                action = watching;
            };
            action = [&](settle::event const&) { call(); };
            CHECK(engine.run("observed", transfer{"A", "B", 1}).done());
            action = nullptr;
            std::vector const three(3, transfer{"A", "B", 1});
            engine.run_all(three, [&](std::size_t, settle::outcome const& outcome) {
                CHECK_MESSAGE(outcome.done(), outcome.text());
                call();
            });
            CHECK(engine.read(ledgers, "B").value()->balance == 4 + 3 * inner);
            CHECK(engine.marks().value() == 0);
        }
    }
}

TEST_CASE("callbacks: every callback may call the engine with one connection and two stores") {
    time_limit_of_test const limit;
    fresh_database const own{replica_set_address};
    settle::mongodb::database log{own.address() + "&maxPoolSize=1"};
    settle::memory::database other;
    std::function<void(settle::event const&)> action;
    settle::engine engine{settle::log_in(log),
                          settle::bind(ledgers, log),
                          settle::bind(settle::testing::cards, other),
                          settle::type<settle::testing::move_type>,
                          settle::type<settle::testing::withdraw_type>,
                          settle::observed_by(observer{&action})};
    engine.create(ledgers, {"A", opening, 0, ""}).value();
    engine.create(ledgers, {"B", 0, 0, ""}).value();
    int inner = 0;
    action = [&](settle::event const&) {
        auto const watching = std::exchange(action, nullptr);
        CHECK(engine.run("inner" + std::to_string(++inner), transfer{"A", "B", 1}).done());
        action = watching;
    };
    CHECK(engine.run("outer", transfer{"A", "B", 1}).done());
    action = nullptr;
    CHECK(engine.read(ledgers, "B").value()->balance == 1 + inner);
}

TEST_CASE("fork: a child cannot use its parent's database, and ends without a wait") {
    fresh_database const own{replica_set_address};
    auto db = std::make_unique<settle::mongodb::database>(own.address());
    using engine_type = decltype(bank_on(*db));
    std::unique_ptr<engine_type> engine{new engine_type(bank_on(*db))};
    engine->create(ledgers, {"A", opening, 0, ""}).value();
    engine->create(ledgers, {"B", 0, 0, ""}).value();
    REQUIRE(engine->run("before", transfer{"A", "B", 1}).done());
    ::pid_t const child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        ::alarm(900);
        bool good =
            engine->run("child", transfer{"A", "B", 1}).problem.code == settle::errc::forked;
        auto const read = db->read_linearizable(ledgers, "A");
        good = good && !read.has_value() && read.problem().code == settle::errc::forked;
        try {
            bank_on(*db);
            good = false;
        } catch (settle::failure const& thrown) {
            good = good && thrown.problem().code == settle::errc::forked;
        }
        engine.reset();
        db.reset();
        // The child may use a new database.
        try {
            settle::mongodb::database fresh{own.address()};
            good = good && bank_on(fresh).run("of the child", transfer{"A", "B", 1}).done();
        } catch (std::exception const&) {
            good = false;
        }
        ::_exit(good ? 0 : 1);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(status == 0);
    CHECK(engine->run("after", transfer{"A", "B", 1}).done());
    CHECK(engine->read(ledgers, "B").value()->balance == 3);
    CHECK_FALSE(engine->find("child").value().has_value());
    CHECK(engine->find("of the child").value().has_value());
}

} // namespace
