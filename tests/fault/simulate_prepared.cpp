// SPDX-License-Identifier: BSL-1.0
// Long runs with a database that prepares: late prepares and ends, lost answers, crashes, sweeps,
// beside records and a call of a service.
#include "simulation_runs.hpp"

#include <settle/memory.hpp>

#include <preparing_database.hpp>

namespace simulated_prepared {

struct purse {
    std::string id;
    std::int64_t balance;
};
struct entry_request {
    std::string account;
    std::int64_t amount = 0;
};
struct payment {
    std::string from, to;
    std::int64_t amount;
};
struct seat_request {
    std::string flight;
};
struct journey {
    std::string from, to;
    std::int64_t amount;
    std::string flight;
};
SETTLE_STRUCT(purse, id, balance);
SETTLE_STRUCT(entry_request, account, amount);
SETTLE_STRUCT(payment, from, to, amount);
SETTLE_STRUCT(seat_request, flight);
SETTLE_STRUCT(journey, from, to, amount, flight);

using namespace settle::testing;
using preparing_test::database;
using settle::call;
using settle::field;
using settle::param;
using settle::work_result;
using simulation_test::on_one_processor;
using simulation_test::replay;

inline constexpr settle::collection<purse, "purses", &purse::id> purses;
inline constexpr settle::prepared<entry_request, "ledger"> ledger;
inline constexpr settle::service<seat_request, settle::nothing, "airline", settle::barrier> airline;

inline constexpr auto payment_type = settle::transaction<payment, "payment">(
    settle::participant<"payer">(purses, param<&payment::from>)
        .require(field<&purse::balance> >= param<&payment::amount>)
        .apply(field<&purse::balance> -= param<&payment::amount>)
        .compensate(settle::inverse),
    settle::participant<"payee">(ledger).apply(call(param<&payment::to>, param<&payment::amount>)));

inline constexpr auto journey_type = settle::transaction<journey, "journey">(
    settle::participant<"payer">(purses, param<&journey::from>)
        .require(field<&purse::balance> >= param<&journey::amount>)
        .apply(field<&purse::balance> -= param<&journey::amount>)
        .compensate(settle::inverse),
    settle::participant<"payee">(ledger).apply(call(param<&journey::to>, param<&journey::amount>)),
    settle::participant<"seat">(airline)
        .apply(call(param<&journey::flight>))
        .confirm(call())
        .compensate(call()));

namespace {

constexpr std::int64_t opening = 20'000;

std::variant<payment, journey> make(dice& chance) {
    std::string const from{chance.between('A', 'D')};
    // The last account does not exist.
    std::string const to{chance.between('P', 'X')};
    auto const amount = chance.between(1, 100);
    if (chance.between(0, 3) != 0) return payment{from, to, amount};
    return journey{from, to, amount, "LH 1"};
}

work_result book(database::connection& connection, entry_request const& request) {
    auto const added = connection.add(request.account, request.amount);
    if (added.has_value()) return work_result::ok();
    if (added.problem().code == settle::errc::record_missing) {
        return work_result::refused("no account " + request.account);
    }
    return work_result::failed(added.problem());
}

/// Runs transactions, and compares the database that prepares with the purses.
simulation_report pay(simulation_limits const& limits) {
    settle::memory::database db;
    database books;
    for (char id = 'P'; id < 'X'; ++id) books.accounts[std::string{id}] = 0;
    simulated_service flights{airline};
    simulation trial{db, settle::bind(ledger, books, book), settle::bind(airline, flights),
                     settle::type<payment_type>, settle::type<journey_type>};
    for (char id = 'A'; id <= 'D'; ++id) trial.open(purses, {std::string{id}, opening});
    trial.finally([&](auto& engine) -> std::string {
        std::int64_t spent = 0;
        for (char id = 'A'; id <= 'D'; ++id) {
            spent += opening - engine.read(purses, std::string{id}).value()->balance;
        }
        std::int64_t booked = 0;
        for (auto const& [id, sum] : books.accounts) booked += sum;
        if (spent == booked && books.names().empty()) return {};
        return std::to_string(spent) + " spent, " + std::to_string(booked) + " booked, " +
               std::to_string(books.names().size()) + " names left";
    });
    return trial.run(make, limits);
}

simulation_limits limits_of(std::uint64_t seed) {
    auto made =
        seed % 2 == 0 ? simulation_limits::drawn(seed) : simulation_limits::with_services(seed);
    made.transactions = 600;
    return made;
}

/// Limits under which entries and receipts are purged while prepares are on their way.
simulation_limits purging(std::uint64_t seed) {
    auto made = simulation_limits::slow(seed);
    made.transactions = 600;
    return made;
}

/// Runs each seed. The sums of the reports.
simulation_report run_payments(std::vector<std::uint64_t> const& seeds,
                               simulation_limits (*limits)(std::uint64_t)) {
    on_one_processor const processor;
    simulation_report sum;
    for (auto const seed : seeds) {
        auto const report = pay(limits(seed));
        CHECK_MESSAGE(report, report, "\n  ", replay(seed));
        sum.done += report.done;
        sum.late += report.late;
        sum.crashes += report.crashes;
        sum.purged += report.purged;
    }
    MESSAGE(sum.done, " done, ", sum.late, " late, ", sum.crashes, " crashes, ", sum.purged,
            " purged");
    return sum;
}

} // namespace

TEST_CASE("simulation of prepared parts: each is committed once or not at all") {
    auto const all = seeds(1, 8);
    auto const sum = run_payments(all, limits_of);
    if (all.size() == 1) return;
    CHECK(sum.done > 1000);
    CHECK(sum.late > 100);
    CHECK(sum.crashes > 20);
}

TEST_CASE("simulation of prepared parts: entries and receipts are purged beside late prepares") {
    auto const all = seeds(21, 6);
    auto const sum = run_payments(all, purging);
    if (all.size() == 1) return;
    CHECK(sum.purged > 100);
    CHECK(sum.late > 100);
}

TEST_CASE("simulation of prepared parts: a seed repeats its run step by step") {
    auto const first = pay(limits_of(3));
    auto const second = pay(limits_of(3));
    CHECK(first);
    CHECK(first.trace == second.trace);
    CHECK(first.done == second.done);
}

} // namespace simulated_prepared
