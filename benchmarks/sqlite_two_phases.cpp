// SPDX-License-Identifier: BSL-1.0
// SQLite with marks and a commit for each step of the protocol, against the tutorial's steps.
#include "sqlite_rounds.hpp"

namespace bench {

namespace {

using baseline::log_layout;
using baseline::marks;

/// How the tutorial's program keeps its data.
struct tables {
    std::string name;
    baseline::marks kept;
    baseline::log_layout layout;
};

void compare(context& context, std::string const& name, workload const& work, std::size_t window,
             double budget) {
    std::string const path = context.file("two_phases.db");
    comparison compared;
    compared.name = name;
    compared.operations = static_cast<double>(work.requests.size());
    compared.settle = {"settle", [&] { return two_phases_round(path, work, window); }};
    for (tables const& by : {tables{"tutorial, marks in a table", marks::table, log_layout::by_id},
                             tables{"tutorial, marks in JSON", marks::column, log_layout::by_id},
                             tables{"tutorial, marks in a table, log with an index", marks::table,
                                    log_layout::by_number},
                             tables{"tutorial, marks in JSON, log with an index", marks::column,
                                    log_layout::by_number}}) {
        compared.baselines.push_back(
            {by.name, [&, by] { return tutorial_round(path, work, window, by.kept, by.layout); }});
    }
    compared.budget = budget;
    context.compare(compared);
    erase_file(path);
}

add_case const one_at_a_time{
    30, "SQLite, two phases, one at a time", [](context& context, std::string const& name) {
        compare(context, name, make_workload({.transfers = context.size(1'000, 300)}), 1, 0.60);
    }};

add_case const uniform{
    31, "SQLite, two phases, batches of 1,000", [](context& context, std::string const& name) {
        compare(context, name, make_workload({.transfers = context.size(50'000, 10'000)}),
                usual_window, 0.85);
    }};

add_case const hot{
    32, "SQLite, two phases, batches of 1,000, 10 accounts take 90 %",
    [](context& context, std::string const& name) {
        compare(context, name,
                make_workload({.transfers = context.size(50'000, 10'000), .hot_percent = 90}),
                usual_window, 0.85);
    }};

add_case const random_ids{
    33, "SQLite, two phases, batches of 1,000, random ids",
    [](context& context, std::string const& name) {
        compare(context, name,
                make_workload({.transfers = context.size(50'000, 10'000), .random_ids = true}),
                usual_window, 1.00);
    }};

} // namespace

} // namespace bench
