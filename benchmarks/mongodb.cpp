// SPDX-License-Identifier: BSL-1.0
// MongoDB: a replica set of one server, and one of three, against the same work with libmongoc.
#include "baseline/mongodb_one_phase.hpp"
#include "baseline/mongodb_tutorial.hpp"
#include "mongodb_bank.hpp"
#include "rounds.hpp"

#include <settle/mongodb.hpp>

#include <memory>

namespace bench {

namespace {

using baseline::mongodb::phase;
using baseline::mongodb::state_changes;

// ---------------------------------------------------------------------------------------- settle

enum class mode : std::uint8_t { one_phase, two_phases, threads };

/// The clients that threads share where they have none of their own.
constexpr std::size_t pool_size = 16;

double settle_round(mongodb_set const& set, workload const& work, std::size_t window,
                    mode timed_mode, timed_run timed = timed_run::first) {
    mongodb_bank const bank{set, work};
    double seconds = 0;
    {
        settle::mongodb::database db{bank.address()};
        settle::engine engine{db, settle::type<transfer_type>,
                              timed_mode == mode::two_phases ? settle::two_phases
                                                             : settle::phases::one};
        if (timed_mode == mode::threads) {
            seconds = detail::run_threads_warm(work, [&](std::size_t) {
                return [&](transfer_request const& request) {
                    expect_done(engine.run(request.first, request.second));
                };
            });
            expect_settled(engine, work);
        } else {
            seconds = detail::run_settle(engine, work, window, timed);
        }
    }
    bank.check();
    return seconds;
}

// --------------------------------------------------------------------------------------- by hand

double one_phase_by_hand(mongodb_set const& set, workload const& work, std::size_t window) {
    mongodb_bank const bank{set, work, "log"};
    double seconds = 0;
    {
        auto const with = bank.by_hand();
        baseline::mongodb::one_phase by_hand{with};
        seconds = detail::run_by_hand(by_hand, work.requests, window);
    }
    bank.check();
    return seconds;
}

/// A variant of the tutorial's program.
struct tutorial_options {
    std::string name;
    bool retries; ///< retryWrites, of which the server keeps a record for each statement
    state_changes changes;
    phase each = phase::one_command;
};

double tutorial_round(mongodb_set const& set, workload const& work, std::size_t window,
                      tutorial_options const& options) {
    mongodb_bank const bank{set, work, "transactions"};
    double seconds = 0;
    {
        auto const with = bank.by_hand(options.retries);
        baseline::mongodb::tutorial by_hand{with, options.changes, options.each};
        seconds = detail::run_by_hand(by_hand, work.requests, window);
    }
    bank.check();
    return seconds;
}

/// A program by hand, and its client.
template <typename Program>
struct worker {
    worker(mongodb_set const& set, std::string const& database, bool retries)
        : with(set.clients(retries), database), by_hand(with) {}
    void run(transfer_request const& request) { by_hand.run(request); }

    baseline::mongodb::connection const with;
    Program by_hand;
};

/// Shape:   clients - that 64 threads share
template <typename Program>
double threads_by_hand(mongodb_set const& set, workload const& work, char const* log, bool retries,
                       std::size_t clients) {
    mongodb_bank const bank{set, work, log};
    double const seconds = detail::run_workers(work, clients, [&] {
        return std::make_unique<worker<Program>>(set, bank.name(), retries);
    });
    bank.check();
    return seconds;
}

// ----------------------------------------------------------------------------------------- cases

/// The differences between one server and three servers.
struct deployment {
    std::size_t members;
    std::string name;
};

deployment const one_node{1, "one node"};
deployment const three_nodes{3, "three nodes"};

/// The parts that all cases have.
struct setting {
    context& case_context;
    std::string const& name;
    mongodb_set const& on;
    workload work;

    /// Shape:   untimed - the number of transfers that do not count
    void compare(side settle, std::vector<side> baselines, double budget,
                 std::size_t untimed = 0) const {
        comparison compared;
        compared.name = name;
        compared.operations = static_cast<double>(work.requests.size() - untimed);
        compared.settle = std::move(settle);
        compared.baselines = std::move(baselines);
        compared.budget = budget;
        compared.rounds = case_context.size(5, 3);
        case_context.compare(compared);
    }
};

/// A short round has fewer accounts, since their creation would take longer than the transfers.
workload work_of(std::size_t transfers) {
    return make_workload(
        {.transfers = transfers, .accounts = transfers < 2'000 ? 2'000U : 10'000U});
}

void one_phase(setting const& setup, std::size_t window, double budget) {
    setup.compare(
        {"settle", [&] { return settle_round(setup.on, setup.work, window, mode::one_phase); }},
        {{"native transaction", [&] { return one_phase_by_hand(setup.on, setup.work, window); }}},
        budget);
}

void two_phases(setting const& setup, std::size_t window, double budget) {
    std::vector<tutorial_options> variants{{"tutorial", false, state_changes::one_by_one}};
    // In bulks the difference is the server's records of retryable writes.
    if (window != 1) {
        variants = {{"tutorial, retryWrites on", true, state_changes::one_by_one},
                    {"tutorial, a state in one update", false, state_changes::together},
                    {"tutorial, a state in one update, each phase a native transaction", false,
                     state_changes::together, phase::native_transaction}};
    }
    std::vector<side> baselines;
    for (tutorial_options const& options : variants) {
        baselines.push_back({options.name, [&setup, window, options] {
                                 return tutorial_round(setup.on, setup.work, window, options);
                             }});
    }
    setup.compare(
        {"settle", [&] { return settle_round(setup.on, setup.work, window, mode::two_phases); }},
        std::move(baselines), budget);
}

void one_phase_by_threads(setting const& setup, double budget) {
    std::vector<side> baselines;
    for (std::size_t const clients : {detail::thread_count, pool_size}) {
        baselines.push_back(
            {"native transactions, " + std::to_string(clients) + " clients", [&setup, clients] {
                 return threads_by_hand<baseline::mongodb::one_phase>(setup.on, setup.work, "log",
                                                                      true, clients);
             }});
    }
    baselines.push_back({"tutorial, 64 clients", [&setup] {
                             return threads_by_hand<baseline::mongodb::tutorial>(
                                 setup.on, setup.work, "transactions", false, detail::thread_count);
                         }});
    setup.compare({"settle", [&] { return settle_round(setup.on, setup.work, 1, mode::threads); }},
                  std::move(baselines), budget, detail::warm_up);
}

/// The transfers of a round.
struct sizes {
    std::size_t full;
    std::size_t quick;
};

template <typename Body>
add_case make_case(int number, deployment const& where, std::string const& kind, sizes const& sizes,
                   Body body) {
    return {number, "MongoDB, " + where.name + ", " + kind,
            [&where, sizes, body](context& context, std::string const& name) {
                auto const* const on = mongodb_set::of(where.members);
                if (on == nullptr) return;
                body({context, name, *on, work_of(context.size(sizes.full, sizes.quick))});
            }};
}

/// The cases of one set.
/// Shape:   first - the number of the first of them
struct cases_of {
    cases_of(int first, deployment const& where, sizes one_phase_each, sizes one_phase_batches,
             sizes two_phases_each, sizes two_phases_batches, sizes by_threads)
        : all{make_case(first, where, "one phase, one at a time", one_phase_each,
                        [](setting const& setup) { one_phase(setup, 1, 1.10); }),
              make_case(first + 1, where, "one phase, batches of 1,000", one_phase_batches,
                        [](setting const& setup) { one_phase(setup, usual_window, 1.10); }),
              make_case(first + 2, where, "two phases, one at a time", two_phases_each,
                        [](setting const& setup) { two_phases(setup, 1, 0.56); }),
              make_case(first + 3, where, "two phases, batches of 1,000", two_phases_batches,
                        [](setting const& setup) { two_phases(setup, usual_window, 0.65); }),
              make_case(first + 4, where, "one phase, 64 threads", by_threads,
                        [](setting const& setup) { one_phase_by_threads(setup, 0.25); })} {}
    add_case all[5];
};

void compare_repeated_run(setting const& setup, mode timed_mode) {
    compare_repeated(setup.case_context, setup.name, setup.work.requests.size(),
                     [&setup, timed_mode](timed_run timed) {
                         return settle_round(setup.on, setup.work, usual_window, timed_mode, timed);
                     });
}

struct repeated_cases {
    repeated_cases(int first, deployment const& where, sizes const& one_phase,
                   sizes const& two_phases)
        : all{make_case(first, where, "one phase, repeated", one_phase,
                        [](setting const& setup) { compare_repeated_run(setup, mode::one_phase); }),
              make_case(
                  first + 1, where, "two phases, repeated", two_phases,
                  [](setting const& setup) { compare_repeated_run(setup, mode::two_phases); })} {}
    add_case all[2];
};

repeated_cases const repeated_at_one{85, one_node, {10'000, 2'000}, {4'000, 2'000}};
repeated_cases const repeated_at_three{92, three_nodes, {4'000, 1'000}, {2'000, 1'000}};

cases_of const at_one{80,        one_node,       {600, 200},  {10'000, 2'000},
                      {120, 40}, {4'000, 2'000}, {1'280, 512}};
cases_of const at_three{87,       three_nodes,    {200, 60}, {4'000, 1'000},
                        {60, 16}, {2'000, 1'000}, {640, 256}};

} // namespace

} // namespace bench
