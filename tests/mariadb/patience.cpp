// SPDX-License-Identifier: BSL-1.0
// How long the caller of an engine waits for a server.
#include "bank_story.hpp"
#include "hanging_server.hpp"

namespace settle_test {
namespace {

TEST_CASE("patience: a deadline or a stop request ends a wait for a server that hangs") {
    mariadb_server server;
    settle::mariadb::options limits;
    limits.answer_timeout = limits.connect_timeout = 10min;
    settle::mariadb::database here{server.address(), limits};
    check_limits_at_hanging(server, here);
}

TEST_CASE("patience: a server that hangs holds up no transaction without a part in it") {
    mariadb_server server;
    settle::mariadb::database database{server.address()};
    check_others_beside_hanging(server, database);
}

} // namespace
} // namespace settle_test
