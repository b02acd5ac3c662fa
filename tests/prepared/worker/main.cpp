// SPDX-License-Identifier: BSL-1.0
// Pays until it is killed.
//
//   settle_prepared_worker <PostgreSQL> <MariaDB> <SQLite file> <threads> <seed>
#include "../payments.hpp"

#include <settle/sqlite.hpp>

#include <random>
#include <thread>

int main(int count, char** arguments) {
    if (count != 6) return 2;
    settle::postgresql::resource left{arguments[1]};
    settle::mariadb::resource right{arguments[2]};
    settle::sqlite::database records{arguments[3]};
    payments_test::watcher const nothing;
    auto const engine = payments_test::make_payments(records, left, right, nothing);
    std::vector<std::thread> threads;
    for (int index = 0; index < std::stoi(arguments[4]); ++index) {
        threads.emplace_back([&, index] {
            std::minstd_rand random{static_cast<unsigned>(std::stoi(arguments[5]) + index)};
            for (;;) {
                auto const next = payments_test::payment_of(static_cast<unsigned>(random()));
                std::ignore = engine->run(next);
            }
        });
    }
    for (auto& one : threads) one.join();
}
