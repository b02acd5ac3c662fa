// SPDX-License-Identifier: BSL-1.0
// One round of the work on SQLite: by settle, and by each way by hand. Each round begins with a new
// file, returns the seconds of the transfers, and throws if a balance is wrong.
#pragma once

#include "baseline/tutorial.hpp"
#include "rounds.hpp"
#include "sqlite_files.hpp"

#include <memory>
#include <mutex>

namespace bench {

namespace detail {

/// A connection and its statements.
struct worker {
    explicit worker(std::string const& path) : on(path), by_hand(on) {}
    baseline::connection on;
    baseline::one_phase by_hand;
};

} // namespace detail

// --------------------------------------------------------------------------------------- one phase

inline double one_phase_round(std::string const& path, workload const& work, std::size_t window,
                              timed_run timed = timed_run::first) {
    begin_file(path, {}, work);
    double seconds = 0;
    {
        settle::sqlite::database db{path};
        settle::engine engine{db, settle::type<transfer_type>};
        seconds = detail::run_settle(engine, work, window, timed);
    }
    check_balances(path, work);
    return seconds;
}

inline double one_phase_by_hand(std::string const& path, workload const& work, std::size_t window,
                                baseline::log_layout layout) {
    begin_file(path, {.more = {baseline::log_sql(layout)}}, work);
    double seconds = 0;
    {
        detail::worker by{path};
        seconds = detail::run_by_hand(by.by_hand, work.requests, window);
    }
    check_by_hand(path, work);
    return seconds;
}

inline double callers_round(std::string const& path, workload const& work) {
    begin_file(path, {}, work);
    double seconds = 0;
    {
        settle::sqlite::database db{path};
        settle::engine engine{db, settle::type<transfer_type>};
        seconds = detail::run_callers(engine, work.requests);
        expect_settled(engine, work);
    }
    check_balances(path, work);
    return seconds;
}

// ----------------------------------------------------------------------------------------- threads

inline double threads_round(std::string const& path, workload const& work, std::size_t threads) {
    begin_file(path, {}, work);
    double seconds = 0;
    {
        settle::sqlite::database db{path};
        settle::engine engine{db, settle::type<transfer_type>};
        seconds = detail::run_threads(work.requests, threads, [&](std::size_t) {
            return [&](transfer_request const& request) {
                expect_done(engine.run(request.first, request.second));
            };
        });
        expect_settled(engine, work);
    }
    check_balances(path, work);
    return seconds;
}

/// Every thread has a connection of its own, and SQLite lets them take turns.
inline double threads_by_connections(std::string const& path, workload const& work,
                                     std::size_t threads) {
    begin_file(path, {.more = {baseline::log_sql(baseline::log_layout::by_id)}}, work);
    double seconds = 0;
    {
        std::vector<std::unique_ptr<detail::worker>> workers;
        for (std::size_t i = 0; i < threads; ++i) {
            workers.push_back(std::make_unique<detail::worker>(path));
        }
        seconds = detail::run_threads(work.requests, threads, [&](std::size_t thread) {
            return [&mine = workers[thread]->by_hand](transfer_request const& request) {
                mine.run(request);
            };
        });
    }
    check_by_hand(path, work);
    return seconds;
}

/// All threads share one connection, and a mutex lets them take turns.
inline double threads_by_mutex(std::string const& path, workload const& work, std::size_t threads) {
    begin_file(path, {.more = {baseline::log_sql(baseline::log_layout::by_id)}}, work);
    double seconds = 0;
    {
        detail::worker shared{path};
        std::mutex mutex;
        seconds = detail::run_threads(work.requests, threads, [&](std::size_t) {
            return [&](transfer_request const& request) {
                std::lock_guard const guard{mutex};
                shared.by_hand.run(request);
            };
        });
    }
    check_by_hand(path, work);
    return seconds;
}

// -------------------------------------------------------------------------------------- two phases

inline double two_phases_round(std::string const& path, workload const& work, std::size_t window,
                               timed_run timed = timed_run::first) {
    begin_file(path, {}, work);
    double seconds = 0;
    {
        settle::sqlite::database db{path};
        auto engine = make_two_phases<transfer_type>(db);
        seconds = detail::run_settle(engine, work, window, timed);
    }
    check_balances(path, work);
    return seconds;
}

inline double tutorial_round(std::string const& path, workload const& work, std::size_t window,
                             baseline::marks kept, baseline::log_layout layout) {
    bool const in_table = kept == baseline::marks::table;
    file_shape shape{.with_marks = !in_table, .more = {baseline::tutorial_log_sql(layout)}};
    if (in_table) shape.more.emplace_back(baseline::mark_table_sql);
    begin_file(path, shape, work);
    double seconds = 0;
    {
        baseline::connection const on{path};
        baseline::tutorial by_hand{on, kept};
        seconds = detail::run_by_hand(by_hand, work.requests, window);
    }
    check_by_hand(path, work);
    check_no_marks(path, "accounts", in_table);
    return seconds;
}

} // namespace bench
