// SPDX-License-Identifier: BSL-1.0
// A log is at home in its database: a copy in another database or on another server is refused
// until it is closed or accepted. Tables of another release are refused.
#include "copies_suite.hpp"
#include "fixtures.hpp"

namespace settle_test {
namespace {

struct fixture {
    using database = settle::mariadb::database;
    using place = fresh_mariadb;
    static auto copy_of(place const& from) {
        auto to = std::make_unique<place>();
        for (std::string const table : {"accounts", "settle_entry", "settle_mark", "settle_meta"}) {
            to->ask("CREATE TABLE " + table + " LIKE " + from.name() + "." + table +
                    "; INSERT INTO " + table + " SELECT * FROM " + from.name() + "." + table);
        }
        return to;
    }
    static std::string ask_one(std::string const& address, std::string const& sql) {
        return mariadb_session{address}.ask_one(sql);
    }
};
using scene = copies<fixture>;

TEST_CASE_FIXTURE(scene, "copies: a copied database is closed, and the original goes on") {
    check_closed_copy("database", "server=");
}

TEST_CASE_FIXTURE(scene, "copies: a database that has moved is accepted at its new place") {
    fresh_mariadb const own;
    fill(own.address());
    auto const copy = fixture::copy_of(own);
    auto const& other = *copy;
    database moved{other.address()};
    CHECK(settle::accept_moved_log(moved).has_value());
    CHECK(stored(other.address(), "log") == stored(own.address(), "log"));
    CHECK(refusal_of_engine(other.address()).empty());
    auto engine = engine_of(moved);
    CHECK(engine.retry("open").done());
    CHECK(balance(other.address(), "A") == "89");
}

TEST_CASE_FIXTURE(scene, "copies: an engine asks where its log is in one round trip") {
    check_round_trips(fresh_mariadb{}, 2);
}

TEST_CASE_FIXTURE(scene,
                  "copies: a server that is restarted is at home, and a copy of its files is not") {
    mariadb_server own;
    fill(own.address());
    own.kill();
    own.start();
    CHECK(refusal_of_engine(own.address()).empty());
    mariadb_session{own.address()}.ask(
        "UPDATE settle_meta SET value = REPLACE(value, 'server=', 'server=x') "
        "WHERE name = 'home'");
    CHECK(refusal_of_engine(own.address()).code == errc::other_home);
}

TEST_CASE_FIXTURE(scene, "copies: tables of another version are refused") {
    fresh_mariadb const own;
    {
        database const made{own.address()};
    }
    CHECK(stored(own.address(), "schema_version") == "1");
    own.ask("UPDATE settle_meta SET value = '99' WHERE name = 'schema_version'");
    auto const refused = database::open(own.address());
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.problem().code == errc::other_version);
    CHECK(refused.problem().text.starts_with(
        "settle: the tables `" + own.name() +
        "`.settle_… have version 99 and this library needs version 1. Use the release of settle "
        "that made them."));
}

TEST_CASE_FIXTURE(scene, "copies: programs that begin together make the tables once") {
    fresh_mariadb const own;
    std::atomic<int> opened = 0;
    {
        std::vector<std::jthread> threads;
        for (int number = 0; number < 6; ++number) {
            threads.emplace_back([&] {
                auto db = database::open(own.address());
                INFO((db.has_value() ? "" : db.problem().text));
                CHECK(db.has_value());
                if (db.has_value() && refusal_of_engine(own.address()).empty()) ++opened;
            });
        }
    }
    CHECK(opened == 6);
    CHECK(own.ask_one("SELECT COUNT(*) FROM settle_meta WHERE name = 'log'") == "1");
    CHECK(own.ask_one("SELECT COUNT(*) FROM settle_entries") == "0");
}

} // namespace
} // namespace settle_test
