// SPDX-License-Identifier: BSL-1.0
// Rounds on any store: as single transactions, in batches, or by many threads.
#pragma once

#include "repeated.hpp"
#include "settle_side.hpp"

#include <settle/runner.hpp>

#include <atomic>
#include <condition_variable>
#include <exception>
#include <functional>
#include <latch>
#include <memory>
#include <mutex>
#include <thread>
#include <type_traits>

namespace bench::detail {

/// Seconds for all requests; a window of 1 means single transactions.
template <typename ByHand>
double run_by_hand(ByHand& by_hand, std::span<transfer_request const> requests,
                   std::size_t window) {
    stopwatch const watch;
    if (window == 1) {
        for (auto const& one : requests) by_hand.run(one);
    } else {
        for_each_batch(requests, window, [&](auto const& batch) { by_hand.run_batch(batch); });
    }
    return watch.seconds();
}

template <typename Engine>
double run_by_settle(Engine& engine, std::span<transfer_request const> all, std::size_t window) {
    return window == 1 ? run_each(engine, all) : run_batches(engine, all, window);
}

template <typename Engine>
double run_settle(Engine& engine, workload const& work, std::size_t window,
                  timed_run timed = timed_run::first) {
    double const seconds =
        time_of(timed, [&] { return run_by_settle(engine, work.requests, window); });
    expect_settled(engine, work);
    return seconds;
}

/// Seconds from the start of all threads to the end of the last; each calls
/// `work_of(thread)(request)` for every request of its share. The clock starts before any thread
/// can begin.
template <typename MakeWork>
double run_threads(std::span<transfer_request const> requests, std::size_t count,
                   MakeWork const& work_of) {
    std::latch ready{static_cast<std::ptrdiff_t>(count)};
    std::latch go{1};
    std::vector<std::exception_ptr> problems(count);
    std::vector<std::thread> threads;
    for (std::size_t thread = 0; thread < count; ++thread) {
        threads.emplace_back([&, thread] {
            bool is_ready = false;
            try {
                auto run = work_of(thread);
                is_ready = true;
                ready.count_down();
                go.wait();
                for (std::size_t at = thread; at < requests.size(); at += count) run(requests[at]);
            } catch (...) {
                problems[thread] = std::current_exception();
                if (!is_ready) ready.count_down();
            }
        });
    }
    ready.wait();
    stopwatch const watch;
    go.count_down();
    for (auto& thread : threads) thread.join();
    double const seconds = watch.seconds();
    for (auto const& one : problems) {
        if (one) std::rethrow_exception(one);
    }
    return seconds;
}

/// The number of threads of the cases that compare threads.
inline constexpr std::size_t thread_count = 64;

/// The first requests of every thread, which open its connection and prepare its statements, are
/// not timed.
inline constexpr std::size_t warm_up = 2 * thread_count;

/// Seconds for the requests after the warm-up.
template <typename MakeWork>
double run_threads_warm(workload const& work, MakeWork const& work_of) {
    std::span<transfer_request const> const all{work.requests};
    run_threads(all.first(warm_up), thread_count, work_of);
    return run_threads(all.subspan(warm_up), thread_count, work_of);
}

/// Seconds for all requests of as many callers of a runner, each with one request at a time.
template <typename Engine>
double run_callers(Engine& engine, std::span<transfer_request const> requests) {
    std::atomic<std::size_t> next = 0;
    std::atomic<bool> are_done = true;
    std::latch left{static_cast<std::ptrdiff_t>(requests.size())};
    settle::runner runner{engine};
    std::function<void()> const start_next = [&] {
        auto const number = next++;
        if (number >= requests.size()) return;
        auto const& [id, parameters] = requests[number];
        auto const take = [&](settle::outcome const& ended) {
            if (!ended.done()) are_done = false;
            start_next();
            left.count_down();
        };
        if (auto const begun = runner.start(id, parameters, take); !begun) {
            are_done = false;
            left.count_down();
        }
    };
    stopwatch const watch;
    for (std::size_t caller = 0; caller < thread_count; ++caller) start_next();
    left.wait();
    double const seconds = watch.seconds();
    if (!are_done) throw wrong_result("settle: a transaction of a runner is not done");
    return seconds;
}

/// Objects that threads take turns on.
template <typename Worker>
class worker_pool {
public:
    /// Shape:   make() - returns a std::unique_ptr<Worker>
    template <typename Make>
    worker_pool(std::size_t count, Make const& make) {
        for (std::size_t i = 0; i < count; ++i) all_.push_back(make());
        for (auto const& one : all_) free_.push_back(one.get());
    }

    /// Waits for a worker that no other thread uses.
    void run(transfer_request const& request) {
        Worker* const mine = take();
        try {
            mine->run(request);
        } catch (...) {
            give_back(mine);
            throw;
        }
        give_back(mine);
    }

private:
    Worker* take() {
        std::unique_lock lock{mutex_};
        any_.wait(lock, [&] { return !free_.empty(); });
        Worker* const taken = free_.back();
        free_.pop_back();
        return taken;
    }
    void give_back(Worker* mine) {
        {
            std::lock_guard const guard{mutex_};
            free_.push_back(mine);
        }
        any_.notify_one();
    }

    std::vector<std::unique_ptr<Worker>> all_;
    std::mutex mutex_;
    std::condition_variable any_;
    std::vector<Worker*> free_;
};

/// Seconds for the requests after the warm-up, by hand. The workers live through the warm-up.
/// Shape:   workers - their number: one for each thread, or fewer that the threads share; make() -
///          returns a std::unique_ptr to an object with run(request)
template <typename Make>
double run_workers(workload const& work, std::size_t workers, Make const& make) {
    using worker = typename std::invoke_result_t<Make const&>::element_type;
    worker_pool<worker> shared{workers, make};
    return run_threads_warm(work, [&](std::size_t) {
        return [&](transfer_request const& request) { shared.run(request); };
    });
}

} // namespace bench::detail
