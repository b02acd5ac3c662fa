// SPDX-License-Identifier: BSL-1.0
// Accounts in MongoDB and stock in a SQLite file, the log in either; and both in MongoDB; each
// fault at every call.
#include "fixtures.hpp"
#include "hanging_server.hpp"
#include "proxy.hpp"
#include "servers.hpp"

#include <fault/two_stores.hpp>

#include <chrono>
#include <optional>
#include <thread>

namespace settle_test {
namespace {

template <fresh_database::address_of& Address>
struct in_mongodb {
    using database = settle::mongodb::database;
    database& open() { return held_; }

private:
    fresh_database own_{Address};
    database held_{own_.address()};
};

using on_replica_set = in_mongodb<replica_set_address>;
using on_one_server = in_mongodb<standalone_address>;

} // namespace

TEST_CASE("two stores: an order is paid in MongoDB and taken from a file, log in MongoDB") {
    usual_orders<two_stores<on_replica_set, in_file, false>>();
}
TEST_CASE("two stores: an order is paid in MongoDB and taken from a file, log in the file") {
    usual_orders<two_stores<on_replica_set, in_file, true>>();
}
TEST_CASE("two stores: an order over MongoDB and a file fails at every call, log in MongoDB") {
    hit_everywhere<two_stores<on_replica_set, in_file, false>>();
}
TEST_CASE("two stores: an order over MongoDB and a file fails at every call, log in the file") {
    hit_everywhere<two_stores<on_replica_set, in_file, true>>();
}
TEST_CASE("two stores: an order over a set and a single server fails at every call") {
    hit_everywhere<two_stores<on_replica_set, on_one_server, false>>();
}

TEST_CASE("two stores: two stores in MongoDB are called in parallel") {
    fresh_database const first{standalone_address};
    fresh_database const second{standalone_address};
    proxy before_first{first.port()};
    proxy before_second{second.port()};
    settle::mongodb::database accounts{before_first.address(first.name())};
    settle::mongodb::database stock{before_second.address(second.name())};
    in_file log;
    manual_environment const time;
    auto engine = engine_over(log.open(), accounts, stock, time);
    private_order const paid{1};
    paid.open(engine, 100);

    // Neither store answers before both have their requests.
    for (proxy* const one : {&before_first, &before_second}) {
        one->reset_counts();
        one->add({.what = fault::hold_reply});
    }
    std::optional<settle::outcome> outcome;
    std::jthread caller{[&] { outcome = engine.run(paid.id, paid.parameters); }};
    auto const both_called = [&] {
        return before_first.requests() > 0 && before_second.requests() > 0;
    };
    for (int left = 500; left > 0 && !both_called(); --left) {
        std::this_thread::sleep_for(std::chrono::milliseconds{10});
    }
    CHECK(both_called());
    before_first.release();
    before_second.release();
    caller.join();
    CHECK(outcome->done());
    paid.check(engine, 100);
}

TEST_CASE("two stores: a server that hangs holds up no transaction without a part in it") {
    server own;
    settle::mongodb::database database{own.address("bank")};
    check_others_beside_hanging(own, database);
}

} // namespace settle_test
