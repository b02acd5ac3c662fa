// SPDX-License-Identifier: BSL-1.0
// The applications with --store postgresql://…: their outcomes, and their errors if a server cannot
// be used.
#include "proxy.hpp"
#include "shared_servers.hpp"

#include <sql_applications.hpp>

#include <stop_token>
#include <thread>

namespace settle_test {
namespace {

/// For sql_applications.hpp.
struct postgresql_samples {
    using database = fresh_schema;
    static constexpr char const* name = "postgresql";
    static constexpr char const* scheme = "postgresql";
    static constexpr char const* server = "PostgreSQL";
    static constexpr char const* schema_sql = "current_schema()";
    static constexpr char const* unreachable =
        "postgres://bank:secret@127.0.0.1:1/bank?connect_timeout=1";
    static std::string ask_one(std::string const& address, std::string const& sql) {
        return settle_test::ask_one(address, sql);
    }
    static void ask(std::string const& address, std::string const& sql) {
        settle_test::ask(address, sql);
    }
};
using opened_bank = bank_at<postgresql_samples>;

/// A program that uses the proxy cannot pass its 20th commit, so it cannot end, however fast it is.
void hold_commits(proxy& between) {
    between.add({.sql = "COMMIT", .nth = 20, .times = 1'000'000, .what = fault::hold_request});
}

} // namespace

SETTLE_SAMPLE_SUITE("PostgreSQL", postgresql_samples);

TEST_CASE("applications: transfer is killed, with another client beside it, and no money is lost") {
    fresh_schema const own;
    constexpr int orders = 3000;
    opened_bank const teller{"killed", own.address(), orders};
    // It reads, holds rows for a moment, changes nothing, and takes away dead rows.
    std::jthread other{[address = own.address()](std::stop_token const& over) {
        while (!over.stop_requested()) {
            try {
                ask(address, "SELECT sum(balance) FROM accounts; SELECT count(*) FROM settle_mark");
                ask(address, "BEGIN; SELECT * FROM accounts WHERE id < '3' ORDER BY id FOR UPDATE; "
                             "UPDATE accounts SET opened_with = opened_with WHERE id < '2'; "
                             "SELECT pg_sleep(0.02); COMMIT");
                ask(address, "VACUUM accounts");
            } catch (std::exception const&) {
                // A deadlock ends its native transaction, or the program's, which is repeated.
            }
        }
    }};
    for (arguments const& pace :
         {arguments{"--batch", "40"}, arguments{"--two-phases", "--batch", "30"},
          arguments{"--threads", "3", "--batch", "7"}, arguments{"--two-phases"},
          arguments{"--batch", "1"}}) {
        auto const before = teller.done();
        arguments run{"run", teller.input()};
        run.insert(run.end(), pace.begin(), pace.end());
        {
            proxy between{own.port()};
            hold_commits(between);
            auto running = teller.start_at(own.address_at(between.port(), proxy::options), run);
            teller.wait_for_more(running, before);
            running.signal(SIGKILL);
            CHECK(running.wait().signal == SIGKILL);
        }
        auto const settled = teller.call({"recover"});
        CHECK_MESSAGE(settled.code == 0, settled.out << settled.err);
        teller.check_whole();
    }
    auto const last = teller.call({"run", teller.input()});
    other.request_stop();
    other.join();
    CHECK_MESSAGE(last.code == 0, last.out << last.err);
    teller.check_whole();
    CHECK(ask_one(own.address(), "SELECT count(*) FROM settle_entries "
                                 "WHERE state IN ('done', 'canceled')") == std::to_string(orders));
    CHECK(ask_one(own.address(), "SELECT sum(balance - opened_with) FROM accounts") == "0");
}

TEST_CASE("applications: a server that dies under a run, is away, or keeps a user out") {
    postgresql_server server;
    opened_bank const teller{"away", server.address(), 1200};
    proxy between{server.port()};
    hold_commits(between);
    auto running =
        teller.start_at("postgresql://postgres@127.0.0.1:" + std::to_string(between.port()) +
                            "/postgres?" + proxy::options,
                        {"run", teller.input(), "--batch", "20"});
    teller.wait_for_more(running, 0);
    server.kill();
    // It would wait for its server for a while.
    running.signal(SIGINT);
    // The sentence begins with the work that lost its connection.
    refused(running.wait(), "that the server runs and can be reached from here");
    refused(teller.call({"check"}), "PostgreSQL could not be reached");
    server.start();
    auto const last = teller.call({"run", teller.input()});
    CHECK_MESSAGE(last.code == 0, last.out << last.err);
    teller.check_whole();

    ask(server.address(), "CREATE ROLE teller LOGIN PASSWORD 'secret-1' IN ROLE needs_password;"
                          "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public "
                          "TO teller");
    auto const as = [&](std::string const& password) {
        return teller.call_at(server.address("postgres", "", "teller:" + password), {"check"});
    };
    auto const right = as("secret-1");
    CHECK_MESSAGE(right.code == 0, right.err);
    refused(as("secret-2"), "28P01");
    refused(teller.call_at(server.address("nowhere"), {"check"}), "3D000");
}

} // namespace settle_test
