// SPDX-License-Identifier: BSL-1.0
// Programs that use PostgreSQL are killed, and others settle their transactions.
#include "killed_programs.hpp"

#include <postgresql/servers.hpp>

#include <settle/postgresql.hpp>

TEST_CASE("a program that moves money in PostgreSQL is killed, and another settles it") {
    settle_test::postgresql_server const server;
    smoke_test::kill_and_recover(
        smoke_test::bank_world<settle::postgresql::database>{server.address()});
}
