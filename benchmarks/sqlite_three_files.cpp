// SPDX-License-Identifier: BSL-1.0
// Transfers between two SQLite files, with the log in a third: no native transaction spans them.
#include "sqlite_rounds.hpp"
#include "two_banks.hpp"

namespace bench {

namespace {

struct three_files {
    std::string log;
    std::string first;
    std::string second;
};

void check(three_files const& files, workload const& work) {
    halves halves{std::vector<std::int64_t>(work.ids.size(), 0),
                  std::vector<std::int64_t>(work.ids.size(), 0)};
    add_balances(files.first, "first", halves.first);
    add_balances(files.second, "second", halves.second);
    auto const expected = expected_of(work);
    if (halves.first != expected.first || halves.second != expected.second) {
        throw wrong_result("the three files hold wrong balances");
    }
}

double settle_round(three_files const& files, workload const& work) {
    begin_file(files.log, {.tables = {}}, work);
    begin_file(files.first, {.tables = {"first"}}, work);
    begin_file(files.second, {.tables = {"second"}}, work);
    double seconds = 0;
    {
        settle::sqlite::database log{files.log};
        settle::sqlite::database first{files.first};
        settle::sqlite::database second{files.second};
        settle::engine engine{settle::log_in(log), settle::bind(first_bank, first),
                              settle::bind(second_bank, second), settle::type<transfer_apart_type>};
        seconds = detail::run_settle(engine, work, usual_window);
    }
    check(files, work);
    return seconds;
}

double round_by_hand(three_files const& files, workload const& work, baseline::marks kept) {
    bool const in_table = kept == baseline::marks::table;
    std::vector<std::string> more;
    if (in_table) more.emplace_back(baseline::mark_table_sql);
    auto const layout = baseline::log_layout::by_id;
    begin_file(files.log, {.tables = {}, .more = {baseline::tutorial_log_sql(layout)}}, work);
    begin_file(files.first, {.tables = {"first"}, .with_marks = !in_table, .more = more}, work);
    begin_file(files.second, {.tables = {"second"}, .with_marks = !in_table, .more = more}, work);
    double seconds = 0;
    {
        baseline::connection const log{files.log};
        baseline::connection const first{files.first};
        baseline::connection const second{files.second};
        baseline::tutorial by_hand{log, first, second, kept};
        seconds = detail::run_by_hand(by_hand, work.requests, usual_window);
    }
    check(files, work);
    check_count(files.log, "SELECT count(*) FROM log WHERE state = 3", work.requests.size());
    check_no_marks(files.first, "first", in_table);
    check_no_marks(files.second, "second", in_table);
    return seconds;
}

add_case const apart{
    40, "two SQLite files and the log in a third, batches of 1,000",
    [](context& context, std::string const& name) {
        workload const work = make_workload({.transfers = context.size(50'000, 10'000)});
        three_files const files{context.file("apart_log.db"), context.file("apart_first.db"),
                                context.file("apart_second.db")};
        comparison compared;
        compared.name = name;
        compared.operations = static_cast<double>(work.requests.size());
        compared.settle = {"settle", [&] { return settle_round(files, work); }};
        compared.baselines = {{"tutorial, marks in a table",
                               [&] { return round_by_hand(files, work, baseline::marks::table); }},
                              {"tutorial, marks in JSON", [&] {
                                   return round_by_hand(files, work, baseline::marks::column);
                               }}};
        compared.budget = 0.95;
        context.compare(compared);
        for (auto const& one : {files.log, files.first, files.second}) erase_file(one);
    }};

} // namespace

} // namespace bench
