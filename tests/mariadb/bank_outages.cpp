// SPDX-License-Identifier: BSL-1.0
// Servers that restart, are killed, are away for long and turn read-only while threads share an
// engine.
#include "bank_outages_suite.hpp"
#include "bank_story.hpp"

namespace settle_test {
namespace {

TEST_CASE("bank outages: a server restarts in the middle of the calls of many threads") {
    check_restart<mariadb_bank>();
}

TEST_CASE("bank outages: an administrator ends sessions at any moment") {
    check_ended_sessions<mariadb_bank>();
}

TEST_CASE("bank outages: an administrator ends statements at any moment") {
    // A server of its own: the end may meet the next session of the same thread.
    check_outage<mariadb_bank>([](mariadb_server& server, tellers& load) {
        mariadb_session administrator{server.address()};
        int ended = 0;
        while (ended < 300) {
            for (auto const& row : administrator.ask(
                     "SELECT id FROM information_schema.processlist WHERE db = DATABASE() AND "
                     "info IS NOT NULL AND id <> CONNECTION_ID()")) {
                try {
                    administrator.ask("KILL QUERY " + row[0]);
                } catch (std::runtime_error const&) {
                    // Its session has ended.
                }
                ++ended;
            }
            if (ended % 30 == 0) CHECK(load.progress(1));
        }
    });
}

TEST_CASE("bank outages: a server becomes read-only, and takes writes again") {
    check_outage<mariadb_bank>([](mariadb_server& server, tellers& load) {
        // The superuser may write to a server that is read-only.
        mariadb_session administrator{server.address()};
        administrator.ask("CREATE USER bank; GRANT ALL ON test.* TO bank");
        settle::mariadb::database database{server.address("test", "bank"),
                                           mariadb_bank::bank_limits()};
        auto teller = bank_engine(database, settle::phases::two, 500ms);
        administrator.ask("SET GLOBAL read_only = 1");
        auto const outcome = teller.run("read-only", bank::transfer{"0", "1", 1});
        INFO(outcome.text());
        CHECK(outcome.verdict == settle::verdict::undecided);
        CHECK(outcome.problem.code == settle::mariadb::option_prevents);
        CHECK_FALSE(teller.find("read-only").value());
        administrator.ask("SET GLOBAL read_only = 0");
        load.story.note(teller.run("read-only", bank::transfer{"0", "1", 1}));
    });
}

TEST_CASE("long: bank outages: a server is killed under load, again and again") {
    check_killed_servers<mariadb_bank>();
}

TEST_CASE("long: bank outages: the server is away for 40 seconds, and each call ends in time") {
    check_server_away<mariadb_bank>();
}

TEST_CASE("long: bank outages: the server does not answer for 40 seconds") {
    check_frozen_server<mariadb_bank>();
}

} // namespace
} // namespace settle_test
