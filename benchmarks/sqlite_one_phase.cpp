// SPDX-License-Identifier: BSL-1.0
// SQLite with log and records in one file: each transaction is one native transaction.
#include "sqlite_rounds.hpp"

namespace bench {

namespace {

using baseline::log_layout;

void compare(context& context, std::string const& name, workload const& work, std::size_t window,
             double budget) {
    std::string const path = context.file("one_phase.db");
    comparison compared;
    compared.name = name;
    compared.operations = static_cast<double>(work.requests.size());
    compared.settle = {"settle", [&] { return one_phase_round(path, work, window); }};
    compared.baselines = {
        {"by hand, log in the order of ids",
         [&] { return one_phase_by_hand(path, work, window, log_layout::by_id); }},
        {"by hand, log with an index of ids",
         [&] { return one_phase_by_hand(path, work, window, log_layout::by_number); }}};
    compared.budget = budget;
    context.compare(compared);
    erase_file(path);
}

add_case const one_at_a_time{
    20, "SQLite, one phase, one at a time", [](context& context, std::string const& name) {
        compare(context, name, make_workload({.transfers = context.size(3'000, 1'000)}), 1, 1.10);
    }};

add_case const in_batches{
    21, "SQLite, one phase, batches of 1,000", [](context& context, std::string const& name) {
        compare(context, name, make_workload({.transfers = context.size(100'000, 20'000)}),
                usual_window, 1.00);
    }};

add_case const callers{
    22, "SQLite, one phase, 64 callers of a runner", [](context& context, std::string const& name) {
        workload const work = make_workload({.transfers = context.size(20'000, 5'000)});
        std::string const path = context.file("callers.db");
        comparison compared;
        compared.name = name;
        compared.operations = static_cast<double>(work.requests.size());
        compared.settle = {"settle", [&] { return callers_round(path, work); }};
        compared.baselines = {{"settle, a batch with a window of 64",
                               [&] { return one_phase_round(path, work, detail::thread_count); }}};
        compared.budget = 1.25;
        context.compare(compared);
        erase_file(path);
    }};

add_case const threads{
    22, "SQLite, one phase, 64 threads", [](context& context, std::string const& name) {
        constexpr std::size_t count = 64;
        workload const work = make_workload({.transfers = context.size(6'400, 1'280)});
        std::string const path = context.file("threads.db");
        comparison compared;
        compared.name = name;
        compared.operations = static_cast<double>(work.requests.size());
        compared.settle = {"settle", [&] { return threads_round(path, work, count); }};
        compared.baselines = {{"by hand, one connection behind a mutex",
                               [&] { return threads_by_mutex(path, work, count); }},
                              {"by hand, a connection for each thread",
                               [&] { return threads_by_connections(path, work, count); }}};
        // If a sync is nearly free, sharing one saves little, so no budget applies.
        if (context.sync_cost() >= std::chrono::microseconds{50}) compared.budget = 0.10;
        context.compare(compared);
        erase_file(path);
    }};

} // namespace

} // namespace bench
