// SPDX-License-Identifier: BSL-1.0
// Servers that restart, are killed, are away for long and are replaced by their standby while
// threads share an engine.
#include "bank_story.hpp"

namespace settle_test {
namespace {

/// A server with the accounts of a bank.
struct bank_server {
    bank_server() { bank_story::open(server.address()); }

    postgresql_server server{};
};

TEST_CASE("bank outages: a server restarts in the middle of the calls of many threads") {
    bank_server at;
    tellers load{at.server.address()};
    CHECK(load.progress());
    at.server.stop();
    at.server.start();
    CHECK(load.progress());
    load.stop();
    load.story.check(at.server.address());
}

TEST_CASE("bank outages: an administrator ends sessions at any moment") {
    bank_server at;
    tellers load{at.server.address()};
    for (int i = 0; i < 10; ++i) {
        CHECK(load.progress(5));
        ask(at.server.address(), "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                                 "WHERE application_name = 'settle'");
    }
    CHECK(load.progress());
    load.stop();
    load.story.check(at.server.address());
}

TEST_CASE("bank outages: a server becomes read-only, and takes writes again") {
    bank_server at;
    pg::database here{at.server.address(), bank_limits()};
    auto teller = bank_engine(here, settle::phases::two, 500ms);
    tellers load{at.server.address()};
    CHECK(load.progress());
    at.server.set("default_transaction_read_only", "on");
    auto const outcome = teller.run("read-only", bank::transfer{"0", "1", 1});
    CHECK(outcome.verdict == settle::verdict::undecided);
    CHECK(outcome.problem.code == pg::read_only_transaction);
    CHECK(says(outcome.problem, "(SQLSTATE 25006)"));
    CHECK_FALSE(teller.find("read-only").value());
    at.server.set("default_transaction_read_only", "off");
    CHECK(load.progress());
    load.stop();
    load.story.note(teller.run("read-only", bank::transfer{"0", "1", 1}));
    load.story.check(at.server.address());
}

TEST_CASE("long: bank outages: a server is killed under load, again and again") {
    bank_server at;
    tellers load{at.server.address()};
    for (int i = 0; i < 6; ++i) {
        CHECK(load.progress());
        at.server.kill();
        std::this_thread::sleep_for(std::chrono::milliseconds{i * 100});
        at.server.start();
    }
    CHECK(load.progress());
    // The programs end with the server, and others settle what they have begun.
    at.server.kill();
    load.stop();
    at.server.start();
    load.story.check(at.server.address());
}

TEST_CASE("long: bank outages: the server is away for 40 seconds, and each call ends in time") {
    bank_server at;
    tellers load{at.server.address()};
    CHECK(load.progress());
    at.server.kill();
    std::this_thread::sleep_for(40s);
    // Two calls, each with a patience of 5 s and the limits of its last try.
    CHECK(load.longest() < 30s);
    at.server.start();
    CHECK(load.progress());
    load.stop();
    load.story.check(at.server.address());
}

TEST_CASE("long: bank outages: the server does not answer for 40 seconds") {
    bank_server at;
    tellers load{at.server.address()};
    CHECK(load.progress());
    at.server.freeze();
    std::this_thread::sleep_for(40s);
    CHECK(load.longest() < 35s);
    at.server.thaw();
    CHECK(load.progress());
    load.stop();
    load.story.check(at.server.address());
}

TEST_CASE("long: bank outages: a standby is promoted when its primary is killed") {
    bank_server at;
    postgresql_server standby{postgresql_server::standby_of{at.server}};
    at.server.wait_for_standby(true);
    tellers load{"postgresql://postgres@" + standby.host() + "," + at.server.host() + "/postgres"};
    CHECK(load.progress());
    at.server.kill();
    standby.promote();
    CHECK(load.progress());
    load.stop();
    load.story.check(standby.address());
}

} // namespace
} // namespace settle_test
