// SPDX-License-Identifier: BSL-1.0
// Programs that use MongoDB are killed, and others settle their transactions.
#include "killed_programs.hpp"

#include <mongodb/servers.hpp>

#include <settle/mongodb.hpp>

TEST_CASE("a program that moves money in MongoDB is killed, and another settles it") {
    // The set is asked for its primary by another process: this process forks, so it has no client.
    settle_test::server const server;
    smoke_test::kill_and_recover(
        smoke_test::bank_world<settle::mongodb::database>{server.address("bank")});
}
