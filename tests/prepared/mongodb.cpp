// SPDX-License-Identifier: BSL-1.0
// Prepared transactions of PostgreSQL and MariaDB, and records of MongoDB, as one transaction.
#include "payments_of.hpp"

#include "mariadb/backend.hpp"
#include "mongodb/servers.hpp"
#include "postgresql/backend.hpp"
#include "prepared_suite.hpp"

#include <settle/mongodb.hpp>

namespace payments_test {

using namespace settle_test;

TEST_CASE("payments: records of MongoDB commit and cancel with rows of both servers") {
    replica_set const set{1};
    fresh_postgresql const left_home;
    fresh_mariadb const right_home;
    prepared_scene<postgresql_backend> left{left_home.address()};
    prepared_scene<mariadb_backend> right{right_home.address()};
    settle::mongodb::database records{set.address("bank")};
    watcher watch;
    payments_of<settle::mongodb::database> own{records, left.books, right.books, watch};
    payments& engine = own;
    engine.create({"p0", 100});
    payment const usual{"p0", "a", "b"};
    auto const check = [&](std::int64_t done) {
        CHECK(engine.balances() == 100 - 3 * done);
        CHECK(left.sum("a") == std::to_string(done));
        CHECK(right.sum("b") == std::to_string(2 * done));
        CHECK(engine.marks() == 0);
    };
    CHECK(engine.run("done", usual).done());
    check(1);
    CHECK(engine.run("refused", payment{"p0", "a", "none"}).canceled());
    CHECK(engine.run("poor", payment{"p0", "a", "b", 101}).why == settle::reason::guard_failed);
    check(1);
    std::int64_t done = 1;
    for (auto const last : {settle::step::apply, settle::step::commit}) {
        watch = [last](settle::event const& seen) {
            if (seen.taken == last) throw settle::testing::crash{};
        };
        auto const id = std::string{settle::name_of(last)};
        CHECK_THROWS_AS(std::ignore = engine.run(id, usual), settle::testing::crash);
        CHECK_THROWS_AS(std::ignore = engine.run(id + " canceled", payment{"p0", "b", "a"}),
                        settle::testing::crash);
        watch = nullptr;
        // The prepared names. The record comes with the commit.
        CHECK(engine.marks() == 4);
        bool const early = last == settle::step::apply;
        CHECK(engine.cancel(id + " canceled").canceled() == early);
        CHECK(engine.recover().problem.empty());
        CHECK(engine.find(id).state == settle::state::done);
        ++done;
        if (early) check(done);
    }
    CHECK(engine.balances() == 100 - 3 * (done + 1));
    CHECK(left.sum("a") == std::to_string(done));
    CHECK(left.sum("b") == "1");
    CHECK(right.sum("a") == "2");
    CHECK(engine.marks() == 0);
}

} // namespace payments_test
