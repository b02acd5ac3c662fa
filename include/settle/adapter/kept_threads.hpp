// SPDX-License-Identifier: BSL-1.0
// Threads that perform tasks beside their caller. A thread whose task is done waits for the next.
#pragma once

#include <settle/version.hpp>

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

SETTLE_BEGIN
namespace detail {

/// Shape:   threads may share an object; its destructor waits for all tasks
/// Cost:    as many threads as tasks were under way at once
class kept_threads {
public:
    kept_threads() = default;
    kept_threads(kept_threads const&) = delete;
    kept_threads& operator=(kept_threads const&) = delete;
    ~kept_threads() {
        {
            std::lock_guard const guard{mutex_};
            ends_ = true;
        }
        changed_.notify_all();
        for (std::thread& thread : threads_) thread.join();
    }

    /// Shape:   task - throws nothing
    /// Errors:  throws std::system_error if no thread can be started, and std::bad_alloc; then the
    ///          task is not performed
    void perform(std::function<void()> task) {
        {
            std::lock_guard const guard{mutex_};
            if (idle_ <= tasks_.size()) threads_.emplace_back([this] { perform_tasks(); });
            tasks_.push_back(std::move(task));
        }
        changed_.notify_one();
    }

private:
    void perform_tasks() {
        std::unique_lock guard{mutex_};
        for (;;) {
            ++idle_;
            changed_.wait(guard, [this] { return ends_ || !tasks_.empty(); });
            --idle_;
            if (tasks_.empty()) return;
            auto task = std::move(tasks_.front());
            tasks_.pop_front();
            guard.unlock();
            task();
            task = nullptr;
            guard.lock();
        }
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::function<void()>> tasks_;
    std::size_t idle_ = 0;
    bool ends_ = false;
    std::vector<std::thread> threads_;
};

} // namespace detail
SETTLE_END
