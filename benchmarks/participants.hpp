// SPDX-License-Identifier: BSL-1.0
// One round of payments that are spread over many accounts, by settle and by hand.
#pragma once

#include "baseline/spread.hpp"
#include "sqlite_rounds.hpp"

namespace bench {

inline double spread_round(std::string const& path, spread_work const& work, settle::phases how) {
    begin_file(path, {}, work.accounts);
    double seconds = 0;
    {
        settle::sqlite::database db{path};
        settle::engine engine{db, settle::type<spread_type>, how};
        seconds = run_batches(engine, work.requests, usual_window);
        expect_settled(engine, work);
    }
    check_balances(path, work.accounts);
    return seconds;
}

/// One native transaction for each batch, with a statement for each account and one for the log.
inline double spread_by_hand(std::string const& path, spread_work const& work) {
    begin_file(path, {.more = {baseline::log_sql(baseline::log_layout::by_id)}}, work.accounts);
    double seconds = 0;
    {
        baseline::connection const connection{path};
        baseline::spread_by_hand by_hand{connection};
        std::span<std::pair<std::string, spread> const> const all{work.requests};
        stopwatch const watch;
        for_each_batch(all, usual_window, [&](auto const& batch) { by_hand.run_batch(batch); });
        seconds = watch.seconds();
    }
    check_balances(path, work.accounts);
    check_count(path, "SELECT count(*) FROM log WHERE state = 3", work.requests.size());
    return seconds;
}

} // namespace bench
