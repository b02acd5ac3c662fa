// SPDX-License-Identifier: BSL-1.0
// Recovery of unfinished entries: half are pending, half are applied.
#include "baseline/tutorial_recovery.hpp"
#include "sqlite_rounds.hpp"
#include "unfinished.hpp"

namespace bench {

namespace {

/// Half of the transactions stop before their commit, the others after it.
std::size_t pending_of(workload const& work) { return work.requests.size() / 2; }

void prepare_settle(std::string const& path, workload const& work) {
    begin_file(path, {}, work);
    std::span<transfer_request const> const all{work.requests};
    leave_unfinished(path, all.first(pending_of(work)), "commit");
    leave_unfinished(path, all.subspan(pending_of(work)), "confirm");
}

void prepare_by_hand(std::string const& path, workload const& work) {
    begin_file(path,
               {.more = {baseline::tutorial_log_sql(baseline::log_layout::by_id),
                         baseline::mark_table_sql}},
               work);
    baseline::connection const connection{path};
    baseline::tutorial by_hand{connection, baseline::marks::table};
    std::span<transfer_request const> const requests{work.requests};
    for_each_batch(requests.first(pending_of(work)), usual_window, [&](auto const& batch) {
        by_hand.run_batch(batch, baseline::last_step::applied_to_accounts);
    });
    for_each_batch(requests.subspan(pending_of(work)), usual_window, [&](auto const& batch) {
        by_hand.run_batch(batch, baseline::last_step::set_applied);
    });
}

double settle_round(std::string const& prepared, std::string const& path, workload const& work) {
    erase_file(path);
    std::filesystem::copy_file(prepared, path);
    double seconds = 0;
    {
        settle::sqlite::database db{path};
        settle::accept_moved_log(db).value();
        auto engine = make_two_phases<transfer_type>(db);
        stopwatch const watch;
        auto const report = engine.recover({.older_than = std::chrono::milliseconds{0}});
        seconds = watch.seconds();
        if (report.done != work.requests.size()) {
            throw wrong_result("settle: recovered " + std::to_string(report.done));
        }
        expect_settled(engine, work);
    }
    check_balances(path, work);
    return seconds;
}

double round_by_hand(std::string const& prepared, std::string const& path, workload const& work) {
    erase_file(path);
    std::filesystem::copy_file(prepared, path);
    double seconds = 0;
    {
        baseline::connection const connection{path};
        baseline::tutorial_recovery by_hand{connection, baseline::marks::table};
        stopwatch const watch;
        std::size_t const count = by_hand.run();
        seconds = watch.seconds();
        if (count != work.requests.size()) {
            throw wrong_result("by hand: recovered " + std::to_string(count));
        }
    }
    check_by_hand(path, work);
    check_count(path, "SELECT count(*) FROM mark", 0);
    return seconds;
}

add_case const recovery{
    50, "SQLite, recovery of unfinished entries", [](context& context, std::string const& name) {
        std::size_t const count = context.size(100'000, 10'000);
        workload const work = make_workload({.transfers = count});
        std::string const path = context.file("recovery.db");
        std::string const by_settle = context.file("recovery_settle.db");
        std::string const by_hand = context.file("recovery_by_hand.db");
        prepare_settle(by_settle, work);
        prepare_by_hand(by_hand, work);
        comparison compared;
        compared.name = name + (context.quick() ? ", 10,000" : ", 100,000");
        compared.operations = static_cast<double>(count);
        compared.settle = {"settle", [&] { return settle_round(by_settle, path, work); }};
        compared.baselines = {{"tutorial's recovery, marks in a table",
                               [&] { return round_by_hand(by_hand, path, work); }}};
        compared.budget = 3.00;
        compared.rounds = context.size(5, 3);
        double const seconds = context.compare(compared);
        // 80,000 entries a second.
        context.add(row_of_limit(compared.name + ", one entry", "us", seconds * 1e6, 12.5));
        for (auto const& one : {path, by_settle, by_hand}) erase_file(one);
    }};

} // namespace

} // namespace bench
