// SPDX-License-Identifier: BSL-1.0
// The work of a case as a user of settle writes it.
#pragma once

#include "bench.hpp"
#include "workload.hpp"

#include <settle/sqlite.hpp>

#include <algorithm>
#include <span>
#include <string>

namespace bench {

inline constexpr std::size_t usual_window = 1000;

inline void expect_done(settle::outcome const& outcome) {
    if (!outcome.done()) throw wrong_result("settle: " + outcome.text());
}

/// An engine that uses two phases even where one phase is possible.
template <auto const& Type, typename Database>
auto make_two_phases(Database& db) {
    return settle::engine{db, settle::type<Type>, settle::two_phases};
}

/// Seconds for all requests as single transactions.
template <typename Engine, typename Requests>
double run_each(Engine& engine, Requests const& requests) {
    stopwatch const watch;
    for (auto const& [id, parameters] : requests) {
        expect_done(engine.run(id, parameters));
    }
    return watch.seconds();
}

/// Seconds for all requests, many at a time.
template <typename Engine, typename Requests>
double run_batches(Engine& engine, Requests const& requests, std::size_t window) {
    stopwatch const watch;
    auto const outcomes = engine.run_all(requests, settle::batch_options{.window = window});
    double const seconds = watch.seconds();
    if (outcomes.size() != requests.size()) throw wrong_result("settle: outcomes are missing");
    std::for_each(outcomes.begin(), outcomes.end(), expect_done);
    return seconds;
}

/// Errors:  throws wrong_result if a transaction is not done or a mark is left
template <typename Engine, typename Work>
void expect_settled(Engine& engine, Work const& work) {
    auto const marks = engine.marks();
    if (!marks.has_value() || marks.value() != 0) throw wrong_result("settle: marks are left");
    settle::entry_filter unfinished;
    unfinished.unfinished = true;
    auto const left = engine.page(unfinished, {}, 1);
    if (!left.has_value() || !left.value().empty()) {
        throw wrong_result("settle: entries are unfinished");
    }
    auto const& last = work.requests.back().first;
    auto const found = engine.find(last);
    if (!found.has_value() || !found.value() || found.value()->state != settle::state::done) {
        throw wrong_result("settle: " + last + " is not done");
    }
}

} // namespace bench
