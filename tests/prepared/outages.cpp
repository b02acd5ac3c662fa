// SPDX-License-Identifier: BSL-1.0
// Workers and servers that are killed under load.
#include "banks.hpp"

#include <random>

namespace payments_test {

TEST_CASE("long: outages: workers are killed at any moment, and another process settles all") {
    postgresql_server const left_server{{"max_prepared_transactions=50"}};
    mariadb_server const right_server;
    banks banks{postgresql_backend::address_of(left_server), right_server.address()};
    std::minstd_rand random{20261126};
    auto const engine = banks.make();
    std::size_t most_in_doubt = 0;
    for (int round = 0; round < 8; ++round) {
        server_process worker;
        worker.begin({SETTLE_PREPARED_WORKER, banks.left.at, banks.right.at, banks.file.path(), "4",
                      std::to_string(random() % 1000)});
        auto const before = engine->list(false).size();
        CHECK(wait_until(std::chrono::minutes{1},
                         [&] { return engine->list(false).size() > before + 8; }));
        std::this_thread::sleep_for(std::chrono::milliseconds{random() % 300});
        worker.kill();
        most_in_doubt = std::max(most_in_doubt, banks.in_doubt().size());
        banks.settle_all();
        banks.check_settled();
    }
    CHECK(most_in_doubt > 0);
    // A statement of a worker that was killed may have landed since.
    std::this_thread::sleep_for(std::chrono::seconds{2});
    banks.settle_all();
    banks.check_settled();
}

TEST_CASE("long: outages: both servers are killed and started again under load") {
    postgresql_server left_server{{"max_prepared_transactions=50"}};
    mariadb_server right_server;
    banks banks{postgresql_backend::address_of(left_server), right_server.address()};
    auto const engine = banks.make();
    {
        load load{*engine, 4};
        for (int round = 0; round < 3; ++round) {
            CHECK(load.progress(10));
            left_server.kill();
            left_server.start();
            CHECK(load.progress(10));
            right_server.kill();
            right_server.start();
        }
        CHECK(load.progress(10));
    }
    banks.settle_all();
    banks.check_settled();
}

} // namespace payments_test
