// SPDX-License-Identifier: BSL-1.0
// Rounds on any store: as single transactions, in batches, or by many threads.
#pragma once

#include "repeated.hpp"
#include "settle_side.hpp"

#include <exception>
#include <latch>
#include <thread>

namespace bench::detail {

/// Seconds for all requests; a window of 1 means single transactions.
template <typename ByHand>
double run_by_hand(ByHand& by_hand, workload const& work, std::size_t window) {
    std::span<request const> const all{work.requests};
    stopwatch const watch;
    if (window == 1) {
        for (auto const& one : all) by_hand.run(one);
    } else {
        for (std::size_t at = 0; at < all.size(); at += window) {
            by_hand.run_batch(all.subspan(at, std::min(window, all.size() - at)));
        }
    }
    return watch.seconds();
}

template <typename Engine>
double run_settle(Engine& engine, workload const& work, std::size_t window,
                  timed_run timed = timed_run::first) {
    double const seconds = time_of(timed, [&] {
        return window == 1 ? run_each(engine, work.requests)
                           : run_batches(engine, work.requests, window);
    });
    expect_settled(engine, work);
    return seconds;
}

/// Seconds from the start of all threads to the end of the last; each calls
/// `work_of(thread)(request)` for every request of its share.
template <typename MakeWork>
double run_threads(std::span<request const> all, std::size_t count, MakeWork const& work_of) {
    std::latch ready{static_cast<std::ptrdiff_t>(count) + 1};
    std::vector<std::exception_ptr> problems(count);
    std::vector<std::thread> threads;
    for (std::size_t thread = 0; thread < count; ++thread) {
        threads.emplace_back([&, thread] {
            auto run = work_of(thread);
            ready.arrive_and_wait();
            try {
                for (std::size_t at = thread; at < all.size(); at += count) {
                    run(all[at]);
                }
            } catch (...) {
                problems[thread] = std::current_exception();
            }
        });
    }
    ready.arrive_and_wait();
    stopwatch const watch;
    for (auto& one : threads) one.join();
    double const seconds = watch.seconds();
    for (auto const& one : problems) {
        if (one) std::rethrow_exception(one);
    }
    return seconds;
}

} // namespace bench::detail
