// SPDX-License-Identifier: BSL-1.0
// Transfers between two SQLite files, with the log in the first or in a third: no native
// transaction spans them.
#include "sqlite_rounds.hpp"
#include "two_banks.hpp"

#include <optional>

namespace bench {

namespace {

/// Shape:   log - may be the first file
struct apart_files {
    std::string log;
    std::string first;
    std::string second;

    [[nodiscard]] bool has_third() const { return log != first; }
    void erase() const {
        for (auto const& file : {log, first, second}) erase_file(file);
    }
};

void check(apart_files const& files, workload const& work) {
    halves halves{std::vector<std::int64_t>(work.ids.size(), 0),
                  std::vector<std::int64_t>(work.ids.size(), 0)};
    add_balances(files.first, "first", halves.first);
    add_balances(files.second, "second", halves.second);
    auto const expected = expected_of(work);
    if (halves.first != expected.first || halves.second != expected.second) {
        throw wrong_result("the files hold wrong balances");
    }
}

template <typename Engine>
double run_settle(apart_files const& files, workload const& work, std::size_t window,
                  Engine&& engine) {
    double const seconds = detail::run_settle(engine, work, window);
    check(files, work);
    return seconds;
}

double settle_round(apart_files const& files, workload const& work, std::size_t window) {
    if (files.has_third()) begin_file(files.log, {.tables = {}}, work);
    begin_file(files.first, {.tables = {"first"}}, work);
    begin_file(files.second, {.tables = {"second"}}, work);
    settle::sqlite::database first{files.first};
    settle::sqlite::database second{files.second};
    if (!files.has_third()) {
        return run_settle(files, work, window,
                          settle::engine{settle::log_in(first), settle::bind(first_bank, first),
                                         settle::bind(second_bank, second),
                                         settle::type<transfer_apart_type>});
    }
    settle::sqlite::database log{files.log};
    return run_settle(files, work, window,
                      settle::engine{settle::log_in(log), settle::bind(first_bank, first),
                                     settle::bind(second_bank, second),
                                     settle::type<transfer_apart_type>});
}

double round_by_hand(apart_files const& files, workload const& work, std::size_t window,
                     baseline::marks kept) {
    bool const in_table = kept == baseline::marks::table;
    std::vector<std::string> more;
    if (in_table) more.emplace_back(baseline::mark_table_sql);
    std::vector<std::string> more_in_first = more;
    auto const log_sql = baseline::tutorial_log_sql(baseline::log_layout::by_id);
    if (files.has_third()) begin_file(files.log, {.tables = {}, .more = {log_sql}}, work);
    else more_in_first.push_back(log_sql);
    begin_file(files.first, {.tables = {"first"}, .with_marks = !in_table, .more = more_in_first},
               work);
    begin_file(files.second, {.tables = {"second"}, .with_marks = !in_table, .more = more}, work);
    double seconds = 0;
    {
        baseline::connection const first{files.first};
        baseline::connection const second{files.second};
        std::optional<baseline::connection> third;
        if (files.has_third()) third.emplace(files.log);
        baseline::tutorial by_hand{third ? *third : first, first, second, kept};
        seconds = detail::run_by_hand(by_hand, work.requests, window);
    }
    check(files, work);
    check_count(files.log, "SELECT count(*) FROM log WHERE state = 3", work.requests.size());
    check_no_marks(files.first, "first", in_table);
    check_no_marks(files.second, "second", in_table);
    return seconds;
}

add_case apart(int number, std::string const& called, bool has_third, std::size_t window,
               std::size_t full, std::size_t quick, double budget) {
    return {number, called, [=](context& context, std::string const& name) {
                workload const work = make_workload({.transfers = context.size(full, quick)});
                auto const first = context.file("apart_first.db");
                apart_files const files{has_third ? context.file("apart_log.db") : first, first,
                                        context.file("apart_second.db")};
                comparison compared;
                compared.name = name;
                compared.operations = static_cast<double>(work.requests.size());
                compared.settle = {"settle", [&] { return settle_round(files, work, window); }};
                for (auto const kept : {baseline::marks::table, baseline::marks::column}) {
                    compared.baselines.push_back(
                        {kept == baseline::marks::table ? "tutorial, marks in a table"
                                                        : "tutorial, marks in JSON",
                         [&, kept] { return round_by_hand(files, work, window, kept); }});
                }
                compared.budget = budget;
                context.compare(compared);
                files.erase();
            }};
}

add_case const all[] = {
    apart(40, "two SQLite files and the log in a third, batches of 1,000", true, usual_window,
          50'000, 10'000, 0.75),
    apart(41, "two SQLite files, the log in the first, one at a time", false, 1, 1'000, 300, 0.45),
    apart(42, "two SQLite files, the log in the first, batches of 1,000", false, usual_window,
          50'000, 10'000, 0.65),
};

} // namespace

} // namespace bench
