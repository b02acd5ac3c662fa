// SPDX-License-Identifier: BSL-1.0
// PostgreSQL: one phase on one server, and two phases on two servers, against the same work with
// libpq.
#include "baseline/postgresql_one_phase.hpp"
#include "baseline/postgresql_prepared.hpp"
#include "postgresql_bank.hpp"
#include "server_rounds.hpp"
#include "two_banks.hpp"

#include <settle/postgresql.hpp>

#include <memory>

namespace bench {

namespace {

using baseline::postgresql::overlap;
using baseline::postgresql::prepared;
using baseline::postgresql::preparing;
using baseline::postgresql::spelling;
using by_hand_in_one_phase = baseline::postgresql::one_phase;

// --------------------------------------------------------------------------------------- one phase

double settle_in_one_phase(postgresql_pair const& pair, workload const& work, mode timed) {
    postgresql_bank const bank{pair, 0, work, "accounts"};
    return settle_round<settle::postgresql::database>(bank, work, timed);
}

/// Shape:   connections - that 64 threads share
double one_phase_by_hand(postgresql_pair const& pair, workload const& work, mode timed,
                         spelling spelled, std::size_t connections = 1) {
    postgresql_bank const bank{pair, 0, work, "accounts", {baseline::postgresql::log_sql}};
    auto const make = [&] {
        return std::make_unique<by_hand_in_one_phase>(bank.address(), spelled);
    };
    return round_by_hand(bank, work, timed, make, connections);
}

// -------------------------------------------------------------------------------------- two phases

void check(postgresql_bank const& first, postgresql_bank const& second, workload const& work) {
    auto const expected = expected_of(work);
    first.check(expected.first);
    second.check(expected.second);
}

double settle_apart(postgresql_pair const& pair, workload const& work, std::size_t window) {
    postgresql_bank const first{pair, 0, work, "first"};
    postgresql_bank const second{pair, 1, work, "second"};
    double seconds = 0;
    {
        settle::postgresql::database database{first.address()};
        settle::postgresql::database there{second.address()};
        settle::engine engine{settle::log_in(database), settle::bind(first_bank, database),
                              settle::bind(second_bank, there), settle::type<transfer_apart_type>};
        seconds = detail::run_settle(engine, work, window);
    }
    check(first, second, work);
    return seconds;
}

/// A variant of the program by hand.
struct prepared_options {
    std::string name;
    overlap databases;
    preparing which;
    std::size_t window = 1;
    std::size_t threads = 1; ///< each with a connection to each server
};

double prepared_by_hand(postgresql_pair const& pair, workload const& work,
                        prepared_options const& options) {
    postgresql_bank const first{pair, 0, work, "first", {baseline::postgresql::log_sql}};
    postgresql_bank const second{pair, 1, work, "second"};
    auto const make = [&] {
        return std::make_unique<prepared>(first.address(), second.address(), options.databases,
                                          options.which);
    };
    double seconds = 0;
    if (options.threads == 1) {
        auto const by_hand = make();
        seconds = detail::run_by_hand(*by_hand, work, options.window);
    } else {
        seconds = detail::run_threads(work.requests, options.threads, [&](std::size_t) {
            return [by = std::shared_ptr<prepared>{make()}](transfer_request const& request) {
                by->run(request);
            };
        });
    }
    check(first, second, work);
    first.check_count("log WHERE state = 3", work.requests.size());
    for (auto const* const bank : {&first, &second}) bank->check_count("pg_prepared_xacts", 0);
    return seconds;
}

// ----------------------------------------------------------------------------------------- cases

add_case one_phase(int number, std::string const& kind, mode timed, sizes const& sizes,
                   double budget) {
    return {number, "PostgreSQL, one phase, " + kind,
            [timed, sizes, budget](context& context, std::string const& name) {
                auto const* const on = postgresql_pair::get();
                if (on == nullptr) return;
                auto const work = work_of(context.size(sizes.full, sizes.quick));
                auto const by_hand = [&](std::string const& called, spelling spelled) {
                    return side{called, [&, spelled] {
                                    return one_phase_by_hand(*on, work, timed, spelled);
                                }};
                };
                std::vector<side> baselines;
                if (timed == mode::threads) {
                    // Threads lock the rows in the order of the keys, so they send statements.
                    for (std::size_t const connections : {detail::thread_count, pool_size}) {
                        baselines.push_back(
                            {std::to_string(connections) + " connections", [&, connections] {
                                 return one_phase_by_hand(*on, work, timed, spelling::statements,
                                                          connections);
                             }});
                    }
                } else {
                    baselines.push_back(by_hand("statements in a pipeline", spelling::statements));
                    // A batch takes arrays, however a single transfer is spelled.
                    if (timed == mode::one_at_a_time) {
                        baselines.push_back(by_hand("one statement", spelling::one_statement));
                    }
                }
                compare(context, name, work,
                        {"settle", [&] { return settle_in_one_phase(*on, work, timed); }},
                        std::move(baselines), budget, timed == mode::threads ? detail::warm_up : 0);
            }};
}

/// The programs by hand. In batches, single transfers of several threads are tried as well.
std::vector<prepared_options> variants_of(std::size_t window) {
    std::vector<prepared_options> variants{
        {"prepared on both servers, side by side", overlap::both, preparing::both, window},
        {"prepared on the second server", overlap::none, preparing::second, window},
        {"prepared on the second server, side by side", overlap::both, preparing::second, window}};
    if (window == 1) {
        variants.push_back({"prepared on both servers in turn", overlap::none, preparing::both});
    } else {
        variants.push_back({"8 threads, prepared on both servers, side by side", overlap::both,
                            preparing::both, 1, 8});
        variants.push_back(
            {"8 threads, prepared on the second server", overlap::none, preparing::second, 1, 8});
    }
    return variants;
}

add_case two_phases(int number, std::string const& kind, std::size_t window, sizes const& sizes,
                    std::optional<double> budget) {
    return {number, "PostgreSQL, two phases on two servers, " + kind,
            [window, sizes, budget](context& context, std::string const& name) {
                auto const* const on = postgresql_pair::get();
                if (on == nullptr) return;
                auto const work = work_of(context.size(sizes.full, sizes.quick));
                std::vector<side> baselines;
                for (prepared_options const& options : variants_of(window)) {
                    baselines.push_back({options.name, [on, &work, options] {
                                             return prepared_by_hand(*on, work, options);
                                         }});
                }
                compare(context, name, work,
                        {"settle", [&] { return settle_apart(*on, work, window); }},
                        std::move(baselines), budget);
            }};
}

add_case const all[] = {
    one_phase(70, "one at a time", mode::one_at_a_time, {1'000, 300}, 1.10),
    one_phase(71, "batches of 1,000", mode::batches, {30'000, 10'000}, 1.20),
    one_phase(72, "64 threads", mode::threads, {6'400, 1'920}, 0.50),
    two_phases(73, "one at a time", 1, {500, 100}, 1.00),
    // The former budget was for a program by hand without batches.
    two_phases(74, "batches of 1,000", usual_window, {5'000, 2'000}, std::nullopt),
};

} // namespace

} // namespace bench
