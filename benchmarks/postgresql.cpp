// SPDX-License-Identifier: BSL-1.0
// PostgreSQL: one phase on one server, and two phases on two servers, against the same work with
// libpq.
#include "baseline/postgresql_one_phase.hpp"
#include "baseline/postgresql_prepared.hpp"
#include "postgresql_bank.hpp"
#include "server_rounds.hpp"
#include "two_banks.hpp"

#include <settle/postgresql.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <thread>

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

using settle::postgresql::database;

/// The transfers of a comparison, and the number of them in a slice: a window of a batch, or a few
/// that run one at a time.
struct sliced_work {
    workload whole;
    std::size_t window;
    std::size_t slice;

    [[nodiscard]] std::span<transfer_request const> requests(std::size_t number) const {
        return std::span{whole.requests}.subspan(number * slice, slice);
    }
};

/// The accounts of a round, on both servers.
struct two_banks {
    two_banks(postgresql_pair const& pair, workload const& work,
              std::initializer_list<std::string> more = {})
        : first(pair, 0, work, "first", more), second(pair, 1, work, "second") {}

    void check(workload const& work) const {
        auto const expected = expected_of(work);
        first.check(expected.first);
        second.check(expected.second);
    }

    postgresql_bank first;
    postgresql_bank second;
};

auto engine_apart(database& first, database& second, settle::answer_time answer = settle::at_end) {
    settle::options limits;
    limits.answer = answer;
    return settle::engine{settle::log_in(first), settle::bind(first_bank, first),
                          settle::bind(second_bank, second), settle::type<transfer_apart_type>,
                          limits};
}

/// Waits until the engine has finished what it has answered.
template <typename Engine>
void wait_until_finished(Engine& engine) {
    settle::entry_filter unfinished;
    unfinished.unfinished = true;
    for (;;) {
        auto const left = engine.page(unfinished, {}, 1);
        if (!left.has_value()) throw wrong_result("settle: " + left.problem().text);
        if (left.value().empty()) return;
        std::this_thread::sleep_for(std::chrono::microseconds{100});
    }
}

/// What the time of a slice is.
enum class timed_until : std::uint8_t { answers, finished };

sliced_round settle_apart(postgresql_pair const& pair, sliced_work const& work,
                          settle::answer_time answer = settle::at_end,
                          timed_until until = timed_until::answers) {
    struct round {
        round(postgresql_pair const& servers, workload const& all, settle::answer_time when)
            : banks(servers, all), engine(engine_apart(first, second, when)) {}

        two_banks banks;
        database first{banks.first.address()};
        database second{banks.second.address()};
        decltype(engine_apart(first, second)) engine;
    };
    auto const shared_round = std::make_shared<round>(pair, work.whole, answer);
    return {[shared_round, &work, until](std::size_t slice) {
                stopwatch const watch;
                detail::run_by_settle(shared_round->engine, work.requests(slice), work.window);
                if (until == timed_until::finished) wait_until_finished(shared_round->engine);
                return watch.seconds();
            },
            [shared_round, &work] {
                wait_until_finished(shared_round->engine);
                expect_settled(shared_round->engine, work.whole);
                shared_round->banks.check(work.whole);
            }};
}

/// A variant of the program by hand.
struct prepared_options {
    std::string name;
    overlap databases;
    preparing which;
    bool by_index = false; ///< the server finds accounts by their index, whatever it expects
};

sliced_round prepared_by_hand(postgresql_pair const& pair, sliced_work const& work,
                              prepared_options const& options) {
    std::string const settings =
        options.by_index ? "%20-cenable_hashjoin%3Doff%20-cenable_seqscan%3Doff" : "";
    auto const banks = std::make_shared<two_banks>(
        pair, work.whole, std::initializer_list<std::string>{baseline::postgresql::log_sql});
    auto const by_hand = std::make_shared<prepared>(banks->first.address() + settings,
                                                    banks->second.address() + settings,
                                                    options.databases, options.which);
    return {[by_hand, &work](std::size_t slice) {
                return detail::run_by_hand(*by_hand, work.requests(slice), work.window);
            },
            [banks, &work] {
                banks->check(work.whole);
                banks->first.check_count("log WHERE state = 3", work.whole.requests.size());
                banks->first.check_count("pg_prepared_xacts", 0);
                banks->second.check_count("pg_prepared_xacts", 0);
            }};
}

// ----------------------------------------------------------------------------------------- cases

add_case one_phase(int number, std::string const& kind, mode timed, sizes const& sizes,
                   double budget) {
    return {number, "PostgreSQL, one phase, " + kind,
            [timed, sizes, budget](context& context, std::string const& name) {
                auto const* const servers = postgresql_pair::get();
                if (servers == nullptr) return;
                auto const work = work_of(context.size(sizes.full, sizes.quick));
                auto const by_hand = [&](std::string const& called, spelling spelled) {
                    return side{called, [&, spelled] {
                                    return one_phase_by_hand(*servers, work, timed, spelled);
                                }};
                };
                std::vector<side> baselines;
                if (timed == mode::threads) {
                    // Threads lock the rows in the order of the keys, so they send statements.
                    for (std::size_t const connections : {detail::thread_count, pool_size}) {
                        baselines.push_back(
                            {std::to_string(connections) + " connections", [&, connections] {
                                 return one_phase_by_hand(*servers, work, timed,
                                                          spelling::statements, connections);
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
                        {"settle", [&] { return settle_in_one_phase(*servers, work, timed); }},
                        std::move(baselines), budget, timed == mode::threads ? detail::warm_up : 0);
            }};
}

/// 64 callers of a runner, against a batch with a window of 64.
add_case callers(int number, sizes sizes, double budget) {
    return {number, "PostgreSQL, one phase, 64 callers of a runner",
            [=](context& context, std::string const& name) {
                auto const* const servers = postgresql_pair::get();
                if (servers == nullptr) return;
                auto const work = work_of(context.size(sizes.full, sizes.quick));
                auto const side_of = [&](char const* called, mode timed) {
                    return side{called,
                                [&, timed] { return settle_in_one_phase(*servers, work, timed); }};
                };
                compare(context, name, work, side_of("settle", mode::callers),
                        {side_of("settle, a batch with a window of 64", mode::batches_of_64)},
                        budget);
            }};
}

/// The programs by hand.
std::vector<prepared_options> variants_of(std::size_t window) {
    std::vector<prepared_options> variants{
        {"prepared on both servers, side by side", overlap::both, preparing::both},
        {"prepared on the second server", overlap::none, preparing::second},
        {"prepared on the second server, side by side", overlap::both, preparing::second}};
    if (window == 1) {
        variants.push_back({"prepared on both servers in turn", overlap::none, preparing::both});
    } else {
        variants.push_back({"prepared on the second server, side by side, by the index",
                            overlap::both, preparing::second, true});
    }
    return variants;
}

/// Threads that each call `run`, against threads that share pairs of connections.
double settle_apart_by_threads(postgresql_pair const& pair, workload const& work) {
    two_banks const banks{pair, work};
    {
        database first{banks.first.address()};
        database second{banks.second.address()};
        auto engine = engine_apart(first, second);
        double const seconds = detail::run_threads_warm(work, [&](std::size_t) {
            return [&](transfer_request const& request) {
                expect_done(engine.run(request.first, request.second));
            };
        });
        expect_settled(engine, work);
        banks.check(work);
        return seconds;
    }
}

/// Eight threads call `run`, perhaps while another one reads all accounts of both servers together
/// ten times a second. Decisions wait for such a reader.
double settle_beside_reader(postgresql_pair const& pair, workload const& work, bool with_reader) {
    constexpr std::size_t writers = 8;
    two_banks const banks{pair, work};
    database first{banks.first.address()};
    database second{banks.second.address()};
    auto engine = engine_apart(first, second);
    auto const run = [&](std::span<transfer_request const> some) {
        return detail::run_threads(some, writers, [&](std::size_t) {
            return [&](transfer_request const& request) {
                expect_done(engine.run(request.first, request.second));
            };
        });
    };
    std::span const requests{work.requests};
    run(requests.first(detail::warm_up));
    std::size_t failed = 0;
    std::jthread reader;
    if (with_reader) {
        reader = std::jthread{[&](std::stop_token const& ends) {
            auto next = std::chrono::steady_clock::now();
            while (!ends.stop_requested()) {
                auto const seen =
                    engine.read_together(settle::all_of(first_bank), settle::all_of(second_bank));
                if (!seen.has_value()) ++failed;
                std::this_thread::sleep_until(next += std::chrono::milliseconds{100});
            }
        }};
    }
    double const seconds = run(requests.subspan(detail::warm_up));
    reader = {};
    if (failed != 0) throw wrong_result("settle: accounts could not be read together");
    expect_settled(engine, work);
    banks.check(work);
    return seconds;
}

add_case beside_reader(int number, sizes const& sizes, double budget) {
    return {number, "PostgreSQL, two servers, 8 threads beside ten held reads a second",
            [sizes, budget](context& context, std::string const& name) {
                auto const* const servers = postgresql_pair::get();
                if (servers == nullptr) return;
                auto const work = work_of(context.size(sizes.full, sizes.quick));
                auto const round = [&](bool with_reader) {
                    return [&, with_reader] {
                        return settle_beside_reader(*servers, work, with_reader);
                    };
                };
                compare(context, name, work, {"settle", round(true)},
                        {{"the same without a reader", round(false)}}, budget, detail::warm_up);
            }};
}

double prepared_by_threads(postgresql_pair const& pair, workload const& work,
                           std::size_t connections) {
    two_banks const banks{pair, work, {baseline::postgresql::log_sql}};
    double const seconds = detail::run_workers(work, connections, [&] {
        return std::make_unique<prepared>(banks.first.address(), banks.second.address(),
                                          overlap::none, preparing::second);
    });
    banks.check(work);
    return seconds;
}

add_case threads_apart(int number, sizes const& sizes, double budget) {
    return {number, "PostgreSQL, two phases on two servers, 64 threads",
            [sizes, budget](context& context, std::string const& name) {
                auto const* const servers = postgresql_pair::get();
                if (servers == nullptr) return;
                auto const work = work_of(context.size(sizes.full, sizes.quick));
                std::vector<side> baselines;
                for (std::size_t const connections : {detail::thread_count, pool_size}) {
                    baselines.push_back(
                        {std::to_string(connections) + " pairs of connections", [&, connections] {
                             return prepared_by_threads(*servers, work, connections);
                         }});
                }
                compare(context, name, work,
                        {"settle", [&] { return settle_apart_by_threads(*servers, work); }},
                        std::move(baselines), budget, detail::warm_up);
            }};
}

add_case two_phases(int number, std::string const& kind, std::size_t window, std::size_t accounts,
                    sizes const& sizes, std::optional<double> budget,
                    settle::answer_time answer = settle::at_end,
                    timed_until until = timed_until::answers) {
    return {number, "PostgreSQL, two phases on two servers, " + kind,
            [=](context& context, std::string const& name) {
                auto const* const servers = postgresql_pair::get();
                if (servers == nullptr) return;
                sliced_work const work{
                    make_workload(
                        {.transfers = context.size(sizes.full, sizes.quick), .accounts = accounts}),
                    window, std::max<std::size_t>(window, 25)};
                auto const side_of = [&](std::string const& called, auto const& begin) {
                    return side{called, {}, begin};
                };
                std::vector<side> baselines;
                for (prepared_options const& options : variants_of(window)) {
                    baselines.push_back(side_of(options.name, [servers, &work, options] {
                        return prepared_by_hand(*servers, work, options);
                    }));
                }
                compare(
                    context, name, work.whole,
                    side_of("settle", [&] { return settle_apart(*servers, work, answer, until); }),
                    std::move(baselines), budget, work.slice,
                    work.whole.requests.size() / work.slice);
            }};
}

add_case const all[] = {
    one_phase(70, "one at a time", mode::one_at_a_time, {1'000, 300}, 1.10),
    one_phase(71, "batches of 1,000", mode::batches, {30'000, 10'000}, 1.20),
    one_phase(72, "64 threads", mode::threads, {6'400, 1'920}, 0.50),
    callers(72, {20'000, 5'000}, 1.25),
    two_phases(73, "one at a time", 1, 10'000, {1'000, 500}, 1.15),
    two_phases(74, "batches of 1,000", usual_window, 10'000, {20'000, 10'000}, 2.00),
    two_phases(75, "batches of 1,000, 100,000 accounts", usual_window, 100'000, {20'000, 10'000},
               2.00),
    two_phases(79, "one at a time, answered at the commit, until all is finished", 1, 10'000,
               {1'000, 500}, 1.00, settle::at_commit, timed_until::finished),
    two_phases(79, "one at a time, answered at the commit, until the answer", 1, 10'000,
               {1'000, 500}, 0.75, settle::at_commit),
    threads_apart(76, {6'400, 1'920}, 0.30),
    beside_reader(76, {4'500, 3'000}, 1.10),
};

} // namespace

} // namespace bench
