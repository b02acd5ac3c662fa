// SPDX-License-Identifier: BSL-1.0
// Reads of decided transactions in two schemas of a PostgreSQL server.
#include "../committed_reads_suite.hpp"
#include "fixtures.hpp"

namespace {

using namespace settle_test;
using namespace committed_reads;
using settle::postgresql::database;

struct two_schemas {
    fresh_schema first{};
    fresh_schema second{};
    database near{first.address()};
    database far{second.address()};
};

} // namespace

TEST_CASE("committed reads: each step of a transaction, its worker killed after one") {
    check_all_steps<two_schemas>();
}

TEST_CASE("committed reads: beside writers") {
    two_schemas data;
    check_beside_writers(data.near, data.far, 100);
}

TEST_CASE("committed reads: a limit") {
    two_schemas data;
    check_limit(data.near, data.far);
}
