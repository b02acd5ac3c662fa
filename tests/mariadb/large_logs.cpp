// SPDX-License-Identifier: BSL-1.0
// A log with many finished entries: what is open is found without reading them, and a purge erases
// them in steps.
#include "fixtures.hpp"

#include <settle/settle.hpp>

#include <transfer/transfer.hpp>

#include <doctest/doctest.h>

namespace mariadb_large_logs {
namespace {

using namespace std::chrono_literals;
using settle_test::fresh_mariadb;
using settle_test::mariadb_server;
using settle_test::mariadb_session;

auto engine_of(settle::mariadb::database& db) {
    return settle::engine{db, settle::type<bank::transfer_type>, settle::two_phases};
}

/// Finished entries that have not moved since 2020.
std::string finished_sql(int count) {
    return "INSERT INTO settle_entry(id, state, epoch, created, modified, attempts, open, type, "
           "definition, owner, parameters) SELECT CONCAT('e', LPAD(seq, 8, '0')), IF(seq % 2, 3, "
           "5), 7, 1577836800000 + seq, 1577836800000 + seq, 0, 0, 'transfer', '1', 'host/1', "
           "'{}' FROM seq_1_to_" +
           std::to_string(count);
}

/// The rows that the server has read so far, for all sessions.
std::int64_t rows_read(mariadb_session& by) {
    std::int64_t sum = 0;
    for (auto const& row : by.ask("SHOW GLOBAL STATUS WHERE Variable_name IN ('Handler_read_key', "
                                  "'Handler_read_next', 'Handler_read_prev', 'Handler_read_rnd', "
                                  "'Handler_read_first', 'Handler_read_rnd_next')")) {
        sum += std::stoll(row[1]);
    }
    return sum;
}

} // namespace

TEST_CASE("large logs: what is open is found without reading what is finished") {
    mariadb_server const own;
    settle::mariadb::database db{own.address()};
    auto teller = engine_of(db);
    for (char const* const id : {"A", "B"}) {
        teller.create(bank::accounts, {id, 100, 100}).value();
    }
    mariadb_session beside{own.address()};
    beside.ask(finished_sql(20'000));
    for (char const* const id : {"a", "e0001", "z"}) {
        CHECK(teller.submit(id, bank::transfer{"A", "B", 1}).problem.empty());
    }
    // As of workers that have ended.
    beside.ask("UPDATE settle_entry SET state = 1, modified = 1577836800000 WHERE open");
    auto const cost = [&](auto const& call) {
        auto const before = rows_read(beside);
        call();
        auto const read = rows_read(beside) - before;
        INFO(read, " rows read");
        CHECK(read < 3'000);
    };
    cost([&] {
        std::size_t open = 0;
        for ([[maybe_unused]] settle::entry const& each : teller.list({.unfinished = true})) ++open;
        CHECK(open == 3);
    });
    cost([&] { CHECK(teller.stuck().has_value()); });
    cost([&] {
        auto const report = teller.recover();
        CHECK_MESSAGE(report.problem.empty(), report.problem);
        CHECK(report.done + report.canceled == 3);
    });
    cost([&] { CHECK(teller.work().done == 0); });
    cost([&] { CHECK(teller.run(bank::transfer{"A", "B", 1}).done()); });
    cost([&] { CHECK(teller.page({}, "e0001", 100).value().size() == 100); });
    cost([&] { CHECK(teller.marks().value() == 0); });
}

TEST_CASE("large logs: a purge erases over 25,000 entries in steps, and keeps what it must") {
    fresh_mariadb const own;
    settle::mariadb::database db{own.address()};
    auto teller = engine_of(db);
    for (char const* const id : {"A", "B"}) {
        teller.create(bank::accounts, {id, 100, 100}).value();
    }
    own.ask(finished_sql(25'500));
    // Entries that are open, or that have moved, stand among them.
    own.ask("UPDATE settle_entry SET state = 1, open = 1 WHERE id IN ('e00000001', 'e00012000'); "
            "UPDATE settle_entry SET modified = UNIX_TIMESTAMP() * 1000 WHERE id = 'e00020000'; "
            "UPDATE settle_entry SET modified = 4102444800000 WHERE id = 'e00025500'");
    own.ask("UPDATE settle_entry SET state = 1, open = 1 WHERE id = 'e00000003'");
    CHECK(teller.run("new", bank::transfer{"A", "B", 1}).done());
    std::uint64_t erased = 0;
    std::uint64_t rounds = 0;
    for (bool more = true; more; ++rounds) {
        REQUIRE(rounds < 100);
        auto const report = teller.purge();
        CHECK_MESSAGE(report.problem.empty(), report.problem);
        more = report.erased != 0;
        erased += report.erased;
    }
    CHECK(own.ask_one("SELECT GROUP_CONCAT(id ORDER BY id) FROM settle_entry") ==
          "e00000001,e00000003,e00012000,e00020000,e00025500,new");
    CHECK(erased == 25'500 - 5);
}

} // namespace mariadb_large_logs
