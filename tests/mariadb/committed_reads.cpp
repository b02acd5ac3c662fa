// SPDX-License-Identifier: BSL-1.0
// Reads of decided transactions in two databases of a MariaDB server.
#include "../committed_reads_suite.hpp"
#include "fixtures.hpp"

namespace {

using namespace settle_test;
using namespace committed_reads;
using settle::mariadb::database;

struct two_databases {
    fresh_mariadb first{};
    fresh_mariadb second{};
    database near{first.address()};
    database far{second.address()};
};

} // namespace

TEST_CASE("committed reads: each step of a transaction, its worker killed after one") {
    check_all_steps<two_databases>();
}

TEST_CASE("committed reads: beside writers") {
    two_databases data;
    check_beside_writers(data.near, data.far, 100);
}

TEST_CASE("committed reads: records together, beside writers") {
    two_databases data;
    check_together(data.near, data.far, together::of_one_store, 100);
}

TEST_CASE("committed reads: a limit") {
    two_databases data;
    check_limit(data.near, data.far);
}
