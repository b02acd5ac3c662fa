// SPDX-License-Identifier: BSL-1.0
// Settle beside running programs of the tutorial: it stores their state names, and does not run
// entries that they have claimed.
#include "caller_actions.hpp"
#include "taken_over.hpp"

#include <latch>
#include <thread>
#include <utility>

namespace {

using bank::tutorial::transfer;
using settle::mongodb::spelling;
using settle_test::fresh_database;
using settle_test::old_program;
using settle_test::replica_set_address;
using settle_test::run_command;
using settle_test::standalone_address;
using settle_test::taken_over;

constexpr int lowest_number = 10; // as the accounts' numbers are written

std::int64_t count(std::string const& address, std::string const& filter) {
    auto const reply =
        run_command(address, R"({"count": "transactions", "query": )" + filter + "}");
    REQUIRE_MESSAGE(reply.ok, reply.error);
    return reply.number("n").value();
}

/// Claims unclaimed entries for an old program, from the end, up to a limit.
int claim_some(settle_test::connection& shell, int most) {
    std::string const claim =
        R"({"findAndModify": "transactions", "query": {"state": "initial", "application": )"
        R"({"$exists": false}}, "update": {"$set": {"state": "pending", "application": )"
        R"("other"}}, "sort": {"_id": -1}})";
    int taken = 0;
    while (taken < most) {
        auto const reply = shell.run(claim);
        if (!reply.ok) throw std::runtime_error{reply.error};
        if (!reply.number("value._id")) break;
        ++taken;
    }
    return taken;
}

} // namespace

TEST_CASE("old programs: settle stores each state in the spelling of the old program") {
    struct example {
        spelling how;
        std::string pending;
        std::string committed;
        std::string cancelled;
        std::string done;
    };
    for (auto const& one : {example{spelling::lower, "pending", "committed", "cancelled", "done"},
                            {spelling::upper, "PENDING", "COMMITTED", "CANCELLED", "DONE"},
                            {spelling::capitalised, "Pending", "Committed", "Cancelled", "Done"}}) {
        auto dialect = settle_test::dialects()[1];
        dialect.states = one.how;
        dialect.applied = "committed";
        dialect.canceled = "cancelled";
        fresh_database const own{replica_set_address};
        old_program program{own.address(), dialect};
        program.open(lowest_number);
        settle::mongodb::tutorial_database<bank::tutorial::transfer_type> database{
            own.address(), settle_test::layout_of(dialect)};
        settle::testing::faulty fragile{database};
        settle::engine engine{fragile, settle::two_phases,
                              settle::type<bank::tutorial::transfer_type>};
        transfer const parameters{"A10", "B10", 100};
        auto const leave = [&](char const* id, char const* step) {
            fragile.plan(settle_test::ends_before(step));
            CHECK_THROWS_AS(static_cast<void>(engine.run(id, parameters)), settle::testing::crash);
        };
        leave("1", "apply");
        leave("2", "confirm");
        leave("3", "apply");
        fragile.plan({});
        CHECK(engine.cancel("3").canceled());
        CHECK(engine.run("4", parameters).done());
        auto const has = [&](char const* id, std::string const& word) {
            return count(own.address(),
                         std::string{R"({"_id": )"} + id + R"(, "state": ")" + word + "\"}") == 1;
        };
        INFO(one.done);
        CHECK(has("1", one.pending));
        CHECK(has("2", one.committed));
        CHECK(has("3", one.cancelled));
        CHECK(has("4", one.done));
        // A later worker reads the states correctly.
        CHECK(engine.recover(settle_test::of_any_age()).done == 2);
        CHECK(count(own.address(), R"({"state": ")" + one.done + "\"}") == 3);
        CHECK(engine.read(bank::tutorial::accounts, "A10").value()->balance == 700);
        CHECK(engine.read(bank::tutorial::accounts, "B10").value()->balance == 1300);
        settle_test::check_records(own.address(), 2);
    }
}

TEST_CASE("old programs: nothing runs twice if two workers and an old program claim at once") {
    constexpr int entries = 40;
    constexpr int most = 12;
    auto dialect = settle_test::dialects()[1];
    // Entries older than the lifetime would be canceled.
    REQUIRE(settle_test::make_recent(dialect));
    for (auto* const address : {replica_set_address, standalone_address}) {
        fresh_database const own{*address};
        old_program program{own.address(), dialect};
        program.open(lowest_number);
        std::string documents;
        for (int id = 1; id <= entries; ++id) {
            documents +=
                (id == 1 ? R"({"_id": )" : R"(, {"_id": )") + std::to_string(id) +
                R"(, "source": "A10", "destination": "B10", "value": 1, "state": "initial")" +
                dialect.modified + "}";
        }
        auto const made = run_command(
            own.address(), R"({"insert": "transactions", "documents": [)" + documents + "]}");
        REQUIRE(made.number("n") == entries);

        taken_over over{own.address(), dialect};
        taken_over two{own.address(), dialect};
        settle_test::connection shell{own.address()};
        int taken = claim_some(shell, 1);
        settle::recovery_report reports[2];
        std::latch begun{3};
        auto const work = [&](taken_over& bank, settle::recovery_report& report) {
            settle::work_options few;
            few.window = 2;
            begun.arrive_and_wait();
            report = bank.engine().work(few);
        };
        std::thread by_one{[&] { work(over, reports[0]); }};
        std::thread by_two{[&] { work(two, reports[1]); }};
        begun.arrive_and_wait();
        std::string problem;
        try {
            // The old program claims from the end, so both workers have listed these entries
            // before.
            taken += claim_some(shell, most);
        } catch (std::exception const& caught) {
            problem = caught.what();
        }
        by_one.join();
        by_two.join();

        CHECK(problem == "");
        int const left = entries - taken;
        for (auto const& report : reports) {
            CHECK_MESSAGE(report.problem.empty(), report.problem);
            CHECK(report.skipped.empty());
            CHECK(report.canceled + report.undecided == 0);
            CHECK(std::cmp_less_equal(report.done, left));
        }
        // A worker that finds a transaction done by the old program reports done, too.
        CHECK(std::cmp_greater_equal(reports[0].done + reports[1].done, left));
        CHECK(count(own.address(), R"({"state": "done", "application": {"$ne": "other"}})") ==
              left);
        CHECK(count(own.address(), R"({"state": "pending", "application": "other", "epoch": )"
                                   R"({"$exists": false}})") == taken);
        CHECK(over.balance("A10") == 1000 - left);
        CHECK(over.balance("B10") == 1000 + left);
        settle_test::check_records(own.address(), 2);
    }
}
