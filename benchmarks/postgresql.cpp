// SPDX-License-Identifier: BSL-1.0
// PostgreSQL: one phase on one server, and two phases on two servers, against the same work with
// libpq.
#include "baseline/postgresql_one_phase.hpp"
#include "baseline/postgresql_prepared.hpp"
#include "postgresql_bank.hpp"
#include "rounds.hpp"
#include "two_banks.hpp"

#include <settle/postgresql.hpp>

#include <memory>

namespace bench {

namespace {

using baseline::postgresql::overlap;
using baseline::postgresql::prepared;
using baseline::postgresql::spelling;
using by_hand_in_one_phase = baseline::postgresql::one_phase;

// --------------------------------------------------------------------------------------- one phase

constexpr std::size_t thread_count = 64;

/// The first requests of every thread, which open its connection and prepare its statements, are
/// not timed.
constexpr std::size_t warm_up = 2 * thread_count;

template <typename MakeWork>
double run_warm(workload const& work, MakeWork const& work_of) {
    std::span<request const> const all{work.requests};
    detail::run_threads(all.first(warm_up), thread_count, work_of);
    return detail::run_threads(all.subspan(warm_up), thread_count, work_of);
}

enum class mode : std::uint8_t { one_at_a_time, batches, threads };

double settle_round(postgresql_pair const& on, workload const& work, mode timed) {
    postgresql_bank const bank{on, 0, work, "accounts"};
    double seconds = 0;
    {
        settle::postgresql::database db{bank.address()};
        settle::engine engine{db, settle::type<transfer_type>};
        if (timed == mode::threads) {
            seconds = run_warm(work, [&](std::size_t) {
                return [&](request const& one) { expect_done(engine.run(one.first, one.second)); };
            });
            expect_settled(engine, work);
        } else {
            seconds = detail::run_settle(engine, work, timed == mode::batches ? usual_window : 1);
        }
    }
    bank.check(work.expected);
    return seconds;
}

double round_by_hand(postgresql_pair const& on, workload const& work, mode timed,
                     spelling spelled) {
    postgresql_bank const bank{on, 0, work, "accounts", {baseline::postgresql::log_sql}};
    double seconds = 0;
    if (timed == mode::threads) {
        seconds = run_warm(work, [&](std::size_t) {
            return [by = std::make_shared<by_hand_in_one_phase>(bank.address(), spelled)](
                       request const& one) { by->run(one); };
        });
    } else {
        by_hand_in_one_phase by_hand{bank.address(), spelled};
        seconds = detail::run_by_hand(by_hand, work, timed == mode::batches ? usual_window : 1);
    }
    bank.check(work.expected);
    bank.check_count("log WHERE state = 3", work.requests.size());
    return seconds;
}

// -------------------------------------------------------------------------------------- two phases

constexpr std::size_t connection_count = 8;

void check(postgresql_bank const& first, postgresql_bank const& second, workload const& work) {
    auto const expected = expected_of(work);
    first.check(expected.first);
    second.check(expected.second);
}

double settle_apart(postgresql_pair const& on, workload const& work, std::size_t window) {
    postgresql_bank const first{on, 0, work, "first"};
    postgresql_bank const second{on, 1, work, "second"};
    double seconds = 0;
    {
        settle::postgresql::database here{first.address()};
        settle::postgresql::database there{second.address()};
        settle::engine engine{settle::log_in(here), settle::bind(first_bank, here),
                              settle::bind(second_bank, there), settle::type<transfer_apart_type>};
        seconds = detail::run_settle(engine, work, window);
    }
    check(first, second, work);
    return seconds;
}

/// Shape:   connections - to each server
double prepared_by_hand(postgresql_pair const& on, workload const& work, std::size_t connections,
                        overlap databases) {
    postgresql_bank const first{on, 0, work, "first", {baseline::postgresql::log_sql}};
    postgresql_bank const second{on, 1, work, "second"};
    double const seconds = detail::run_threads(work.requests, connections, [&](std::size_t) {
        return [by = std::make_shared<prepared>(first.address(), second.address(), databases)](
                   request const& one) { by->run(one); };
    });
    check(first, second, work);
    first.check_count("log WHERE state = 3", work.requests.size());
    for (auto const* const bank : {&first, &second}) bank->check_count("pg_prepared_xacts", 0);
    return seconds;
}

// ----------------------------------------------------------------------------------------- cases

/// A short round has fewer accounts, since their creation would take longer than the transfers.
workload work_of(std::size_t transfers) {
    return make_workload(
        {.transfers = transfers, .accounts = transfers < 5'000 ? 2'000U : 10'000U});
}

void compare(context& at, std::string const& name, workload const& work, side settle,
             std::vector<side> baselines, double budget, std::size_t untimed = 0) {
    comparison compared;
    compared.name = name;
    compared.operations = static_cast<double>(work.requests.size() - untimed);
    compared.settle = std::move(settle);
    compared.baselines = std::move(baselines);
    compared.budget = budget;
    compared.rounds = at.size(7, 3);
    at.compare(compared);
}

/// The transfers of a round.
struct sizes {
    std::size_t full;
    std::size_t quick;
};

add_case one_phase(int number, std::string const& kind, mode timed, sizes const& of,
                   double budget) {
    return {number, "PostgreSQL, one phase, " + kind,
            [timed, of, budget](context& at, std::string const& name) {
                auto const* const on = postgresql_pair::get();
                if (on == nullptr) return;
                auto const work = work_of(at.size(of.full, of.quick));
                auto const by_hand = [&](std::string const& called, spelling spelled) {
                    return side{called,
                                [&, spelled] { return round_by_hand(*on, work, timed, spelled); }};
                };
                std::vector<side> baselines{
                    by_hand("statements in a pipeline", spelling::statements)};
                // Threads lock the rows in the order of the keys, and a batch takes arrays.
                if (timed == mode::one_at_a_time) {
                    baselines.push_back(by_hand("one statement", spelling::one_statement));
                }
                compare(at, name, work, {"settle", [&] { return settle_round(*on, work, timed); }},
                        std::move(baselines), budget, timed == mode::threads ? warm_up : 0);
            }};
}

/// Shape:   window - of settle; connections - by hand, to each server
add_case two_phases(int number, std::string const& kind, std::size_t window,
                    std::size_t connections, sizes const& of, double budget) {
    return {number, "PostgreSQL, two phases on two servers, " + kind,
            [window, connections, of, budget](context& at, std::string const& name) {
                auto const* const on = postgresql_pair::get();
                if (on == nullptr) return;
                auto const work = work_of(at.size(of.full, of.quick));
                auto const by_hand = [&](std::string const& called, overlap databases) {
                    return side{called, [&, databases] {
                                    return prepared_by_hand(*on, work, connections, databases);
                                }};
                };
                compare(at, name, work, {"settle", [&] { return settle_apart(*on, work, window); }},
                        {by_hand("prepared, one server after the other", overlap::none),
                         by_hand("prepared, both servers side by side", overlap::both)},
                        budget);
            }};
}

add_case const all[] = {
    one_phase(70, "one at a time", mode::one_at_a_time, {1'000, 300}, 1.10),
    one_phase(71, "batches of 1,000", mode::batches, {30'000, 10'000}, 1.20),
    one_phase(72, "64 threads", mode::threads, {6'400, 1'920}, 0.50),
    two_phases(73, "one at a time", 1, 1, {500, 100}, 1.00),
    two_phases(74, "batches of 1,000", usual_window, connection_count, {5'000, 2'000}, 0.20),
};

} // namespace

} // namespace bench
