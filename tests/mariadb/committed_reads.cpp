// SPDX-License-Identifier: BSL-1.0
// Reads of decided transactions in two databases of a MariaDB server.
#include "../committed_reads_costs.hpp"
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
    check_together(data.near, data.far, together::all, 100);
}

TEST_CASE("committed reads: records that two objects of one database hold") {
    two_databases data;
    database beside{data.first.address()};
    check_together(data.near, beside, together::all, 50);
}

TEST_CASE("committed reads: the round trips of one record") {
    two_databases const data;
    check_round_trips<database>(data.first.address(), data.second.address(), 2);
}

TEST_CASE("committed reads: a hold of the log, which others keep waiting, or end") {
    two_databases data;
    auto log = data.near.bind_log();
    char const* const change = "UPDATE settle_entry SET epoch = epoch";
    mariadb_session other{data.first.address()};
    {
        other.ask("BEGIN");
        other.ask(change);
        auto const refused = log.hold_entries();
        REQUIRE_FALSE(refused.has_value());
        CHECK(refused.problem().code == settle::errc::no_committed_read);
        other.ask("ROLLBACK");
    }
    auto const hold = log.hold_entries();
    REQUIRE(hold.has_value());
    other.ask("SET max_statement_time = 0.01");
    CHECK_THROWS(other.ask(change));
    // The server ends a hold that its program leaves idle.
    other.ask("SET max_statement_time = 0");
    other.ask(change);
    CHECK_FALSE(hold.value()->end().has_value());
    CHECK(log.hold_entries().value()->end().has_value());
    other.ask(change);
}

TEST_CASE("committed reads: writers do not wait while rows are read, also with one connection") {
    two_databases data;
    check_rows_with_one_connection<database, settle::mariadb::options>(data.first.address(),
                                                                       data.second.address());
}

TEST_CASE("committed reads: a limit") {
    two_databases data;
    check_limit(data.near, data.far);
}
