// SPDX-License-Identifier: BSL-1.0
// Servers that restart, are killed, are away for long and are replaced by their standby while
// threads share an engine.
#include "bank_outages_suite.hpp"
#include "bank_story.hpp"

namespace settle_test {
namespace {

TEST_CASE("bank outages: a server restarts in the middle of the calls of many threads") {
    check_restart<postgresql_bank>();
}

TEST_CASE("bank outages: an administrator ends sessions at any moment") {
    check_ended_sessions<postgresql_bank>();
}

TEST_CASE("bank outages: a server becomes read-only, and takes writes again") {
    bank_server<postgresql_bank> server;
    pg::database database{server.server.address(), bank_limits()};
    auto teller = bank_engine(database, settle::phases::two, 500ms);
    tellers load{server.server.address()};
    CHECK(load.progress());
    server.server.set("default_transaction_read_only", "on");
    auto const outcome = teller.run("read-only", bank::transfer{"0", "1", 1});
    CHECK(outcome.verdict == settle::verdict::undecided);
    CHECK(outcome.problem.code == pg::read_only_transaction);
    CHECK(says(outcome.problem, "(SQLSTATE 25006)"));
    CHECK_FALSE(teller.find("read-only").value());
    server.server.set("default_transaction_read_only", "off");
    CHECK(load.progress());
    load.stop();
    load.story.note(teller.run("read-only", bank::transfer{"0", "1", 1}));
    load.story.check(server.server.address());
}

TEST_CASE("long: bank outages: a server is killed under load, again and again") {
    check_killed_servers<postgresql_bank>();
}

TEST_CASE("long: bank outages: the server is away for 40 seconds, and each call ends in time") {
    check_server_away<postgresql_bank>();
}

TEST_CASE("long: bank outages: the server does not answer for 40 seconds") {
    check_frozen_server<postgresql_bank>();
}

TEST_CASE("long: bank outages: a standby is promoted when its primary is killed") {
    bank_server<postgresql_bank> server;
    postgresql_server standby{postgresql_server::standby_of{server.server}};
    server.server.wait_for_standby(true);
    tellers load{"postgresql://postgres@" + standby.host() + "," + server.server.host() +
                 "/postgres"};
    CHECK(load.progress());
    server.server.kill();
    standby.promote();
    CHECK(load.progress());
    load.stop();
    load.story.check(standby.address());
}

} // namespace
} // namespace settle_test
