// SPDX-License-Identifier: BSL-1.0
// What a program left behind that was ended in the middle: half of it pending, half of it applied.
#include "baseline/tutorial_recovery.hpp"
#include "sqlite_rounds.hpp"

#include <settle/testing/faults.hpp>

namespace bench {

namespace {

std::span<request const> window_of(workload const& work, std::size_t at) {
    std::span<request const> const all{work.requests};
    return all.subspan(at, std::min(usual_window, all.size() - at));
}

/// Which step of the transactions at a place is the last: they all have their marks by then.
bool stays_pending(workload const& work, std::size_t at) {
    return at < work.requests.size() / 2;
}

/// Runs transactions whose worker ends in the middle.
template <typename Engine>
void leave(Engine& engine, std::span<request const> requests) {
    try {
        static_cast<void>(engine.run_all(requests, settle::batch_options{.window = usual_window}));
    } catch (settle::testing::crash const&) {
        return;
    }
    throw wrong_result("settle: transactions ended that were to be left");
}

/// Runs settle, and ends its worker before the commit or before the confirming of each window.
void prepare_settle(std::string const& path, workload const& work) {
    using settle::testing::fault;
    using settle::testing::fault_kind;
    begin_file(path, {}, work);
    settle::sqlite::database db{path};
    settle::testing::faulty fragile{db};
    for (std::size_t at = 0; at < work.requests.size(); at += usual_window) {
        std::string_view const last = stays_pending(work, at) ? "commit" : "confirm";
        fragile.plan([last](settle::testing::call const& one) {
            return one.what == last ? fault{fault_kind::crash_before} : fault{};
        });
        auto engine = make_two_phases<transfer_type>(fragile);
        leave(engine, window_of(work, at));
    }
}

void prepare_by_hand(std::string const& path, workload const& work) {
    begin_file(path,
               {.more = {baseline::tutorial_log_sql(baseline::log_layout::by_id),
                         baseline::mark_table_sql}},
               work);
    baseline::connection const on{path};
    baseline::tutorial by_hand{on, baseline::marks::table};
    for (std::size_t at = 0; at < work.requests.size(); at += usual_window) {
        by_hand.run_batch(window_of(work, at), stays_pending(work, at)
                                                   ? baseline::last_step::applied_to_accounts
                                                   : baseline::last_step::set_applied);
    }
}

double settle_round(std::string const& prepared, std::string const& path, workload const& work) {
    erase_file(path);
    std::filesystem::copy_file(prepared, path);
    double seconds = 0;
    {
        settle::sqlite::database db{path};
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
        baseline::connection const on{path};
        baseline::tutorial_recovery by_hand{on, baseline::marks::table};
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
    50, "SQLite, recovery of unfinished entries", [](context& at, std::string const& name) {
        std::size_t const count = at.size(100'000, 10'000);
        workload const work = make_workload({.transfers = count});
        std::string const path = at.file("recovery.db");
        std::string const by_settle = at.file("recovery_settle.db");
        std::string const by_hand = at.file("recovery_by_hand.db");
        prepare_settle(by_settle, work);
        prepare_by_hand(by_hand, work);
        duel wanted;
        wanted.name = name + (at.quick() ? ", 10,000" : ", 100,000");
        wanted.operations = static_cast<double>(count);
        wanted.settle = {"settle", [&] { return settle_round(by_settle, path, work); }};
        wanted.baselines = {{"tutorial's recovery, marks in a table",
                             [&] { return round_by_hand(by_hand, path, work); }}};
        wanted.budget = 1.10;
        wanted.rounds = at.size(5, 3);
        at.compare(wanted);
        for (auto const& one : {path, by_settle, by_hand}) erase_file(one);
    }};

} // namespace

} // namespace bench
