// SPDX-License-Identifier: BSL-1.0
// A log is at home in its database: a copy in another database or on another server is refused
// until it is closed or accepted. Tables of another release are refused.
#include "fixtures.hpp"

#include <settle/settle.hpp>
#include <settle/testing/faults.hpp>

#include <transfer/transfer.hpp>

#include <doctest/doctest.h>

#include <thread>

namespace mariadb_copies {
namespace {

using settle::errc;
using settle_test::fresh_mariadb;
using settle_test::mariadb_server;
using settle_test::mariadb_session;
using database = settle::mariadb::database;

auto engine_of(database& db) {
    return settle::engine{db, settle::type<bank::transfer_type>, settle::two_phases};
}

settle::error refusal_of_engine(std::string const& address) {
    database db{address};
    try {
        static_cast<void>(engine_of(db));
    } catch (settle::failure const& refused) {
        return refused.problem();
    }
    return {};
}

/// Two accounts, a transfer that is done, and one whose worker ended before its commit.
void fill(std::string const& address) {
    namespace st = settle::testing;
    database db{address};
    st::faulty<database> with_faults{db};
    settle::engine engine{with_faults, settle::type<bank::transfer_type>, settle::two_phases};
    for (char const* const id : {"A", "B"}) {
        engine.create(bank::accounts, {id, 100, 100}).value();
    }
    CHECK(engine.run("done", bank::transfer{"A", "B", 1}).done());
    with_faults.plan([](st::call const& call) {
        return st::fault{call.what == "commit" ? st::fault_kind::crash_before
                                               : st::fault_kind::none};
    });
    CHECK_THROWS_AS(std::ignore = engine.run("open", bank::transfer{"A", "B", 10}), st::crash);
}

std::string stored(fresh_mariadb const& in, std::string const& name) {
    return in.ask_one("SELECT value FROM settle_meta WHERE name = '" + name + "'");
}
std::string balance(fresh_mariadb const& in, std::string const& id) {
    return in.ask_one("SELECT balance FROM accounts WHERE id = '" + id + "'");
}
void copy(fresh_mariadb const& from, fresh_mariadb const& to) {
    for (std::string const table : {"accounts", "settle_entry", "settle_mark", "settle_meta"}) {
        to.ask("CREATE TABLE " + table + " LIKE " + from.name() + "." + table + "; INSERT INTO " +
               table + " SELECT * FROM " + from.name() + "." + table);
    }
}
auto close_copy(database& db) {
    return settle::close_copied_log(db, settle::type<bank::transfer_type>);
}

} // namespace

TEST_CASE("copies: a copied database is closed, and the original goes on") {
    fresh_mariadb const own;
    fill(own.address());
    auto const name = stored(own, "log");
    fresh_mariadb const other;
    copy(own, other);
    auto const refused = refusal_of_engine(other.address());
    INFO(refused.text);
    CHECK(refused.code == errc::other_home);
    CHECK(refused.text.find(" database=" + own.name() + "', and now it is at 'server=") !=
          std::string::npos);

    // Two programs close it at the same time.
    database first_program{other.address()};
    database second_program{other.address()};
    settle::recovery_report second;
    std::jthread also{[&] { second = close_copy(second_program); }};
    auto const first = close_copy(first_program);
    also.join();
    CHECK_MESSAGE(first.problem.empty(), first.problem);
    CHECK_MESSAGE(second.problem.empty(), second.problem);
    CHECK(first.canceled + second.canceled == 1);
    CHECK(stored(other, "log") != name);
    CHECK(stored(other, "belongs_to") == stored(other, "log"));
    CHECK(balance(other, "A") == "99");
    CHECK(other.ask_one("SELECT COUNT(*) FROM settle_mark") == "0");
    CHECK(refusal_of_engine(other.address()).empty());

    CHECK(refusal_of_engine(own.address()).empty());
    database db{own.address()};
    auto engine = engine_of(db);
    CHECK(engine.retry("open").done());
    CHECK(balance(own, "A") == "89");
    CHECK(stored(own, "log") == name);
}

TEST_CASE("copies: a database that has moved is accepted at its new place") {
    fresh_mariadb const own;
    fill(own.address());
    fresh_mariadb const other;
    copy(own, other);
    database moved{other.address()};
    CHECK(settle::accept_moved_log(moved).has_value());
    CHECK(stored(other, "log") == stored(own, "log"));
    CHECK(refusal_of_engine(other.address()).empty());
    auto engine = engine_of(moved);
    CHECK(engine.retry("open").done());
    CHECK(balance(other, "A") == "89");
}

TEST_CASE("copies: an engine asks where its log is in one round trip") {
    fresh_mariadb const own;
    fill(own.address());
    database db{own.address()};
    auto log = db.bind_log();
    CHECK(log.home().value().is_same); // its statement is prepared then
    auto const before = db.round_trips();
    CHECK(log.home().value().is_same);
    CHECK(db.round_trips() - before <= 2);
}

TEST_CASE("copies: a server that is restarted is at home, and a copy of its files is not") {
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

TEST_CASE("copies: tables of another release are refused with a sentence") {
    fresh_mariadb const own;
    {
        database const made{own.address()};
    }
    own.ask("UPDATE settle_meta SET value = '99' WHERE name = 'schema_version'");
    auto const refused = database::open(own.address());
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.problem().code == errc::other_version);
    CHECK(refused.problem().text.starts_with(
        "settle: the tables `" + own.name() +
        "`.settle_… have version 99 and this library needs version 1. Use the release of settle "
        "that made them."));
}

TEST_CASE("copies: programs that begin together make the tables once") {
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

} // namespace mariadb_copies
