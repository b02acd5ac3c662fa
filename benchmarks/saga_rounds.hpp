// SPDX-License-Identifier: BSL-1.0
// Rounds of trips with the log in SQLite, wherever the services are.
#pragma once

#include "baseline/saga.hpp"
#include "settle_side.hpp"
#include "sqlite_files.hpp"

#include <algorithm>
#include <functional>
#include <span>
#include <string>

namespace bench {

/// Seconds for all trips; a window of 1 means single trips.
template <typename Engine>
double run_trips(Engine& engine, trips const& work, std::size_t window) {
    double const seconds =
        window == 1 ? run_each(engine, work.requests) : run_batches(engine, work.requests, window);
    settle::entry_filter unfinished;
    unfinished.unfinished = true;
    auto const left = engine.page(unfinished, {}, 1);
    if (!left.has_value() || !left.value().empty()) {
        throw wrong_result("settle: trips are unfinished");
    }
    return seconds;
}

/// The same by hand, in a new file.
/// Shape:   Calls - as of baseline::saga
template <typename Calls>
double run_trips_by_hand(std::string const& path, trips const& work, std::size_t window,
                         baseline::log_layout layout, Calls& calls) {
    erase_file(path);
    double seconds = 0;
    {
        baseline::connection const connection{path};
        connection.execute(baseline::saga_log_sql(layout).c_str());
        baseline::saga by_hand{connection, calls};
        std::span<trip_request const> const all{work.requests};
        stopwatch const watch;
        for_each_batch(all, window, [&](auto const& batch) { by_hand.run_batch(batch); });
        seconds = watch.seconds();
    }
    check_count(path, "SELECT count(*) FROM log WHERE state = 3", work.requests.size());
    return seconds;
}

/// Compares rounds of trips; each round begins with a new file, and checks the services.
struct saga_case {
    std::string path;
    trips work;
    std::function<double(saga_case const&)> settle;
    std::function<double(saga_case const&, baseline::log_layout)> by_hand;

    void compare(context& context, std::string const& name, double budget) const {
        using baseline::log_layout;
        comparison compared;
        compared.name = name;
        compared.operations = static_cast<double>(work.requests.size());
        compared.settle = {"settle", [this] { return settle(*this); }};
        compared.baselines = {{"by hand, log in the order of ids",
                               [this] { return by_hand(*this, log_layout::by_id); }},
                              {"by hand, log with an index of ids",
                               [this] { return by_hand(*this, log_layout::by_number); }}};
        compared.budget = budget;
        context.compare(compared);
        erase_file(path);
    }
};

} // namespace bench
