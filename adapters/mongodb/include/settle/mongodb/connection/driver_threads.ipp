// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that driver_threads.hpp declares.
#pragma once

#include <settle/mongodb/connection/driver_threads.hpp>
#include <settle/store/caller_wait.hpp>

#include <algorithm>
#include <system_error>
#include <utility>

SETTLE_BEGIN

namespace mongodb::detail {

SETTLE_FUNCTION driver_threads::~driver_threads() {
    {
        std::scoped_lock const lock{mutex_};
        ends_ = true;
    }
    has_task_.notify_all();
    for (std::thread& thread : threads_) thread.join();
}

SETTLE_FUNCTION bool driver_threads::are_needed() noexcept {
    auto const* const limits = settle::detail::caller_wait::limits();
    return limits != nullptr && (limits->deadline || limits->stop.stop_possible());
}

SETTLE_FUNCTION std::string_view driver_threads::run(std::function<void()> call) {
    using settle::detail::store_wait;
    // A write of a majority waits for the journal, up to a tenth of a second.
    constexpr auto longer = std::chrono::milliseconds{500} - store_wait::grace;
    store_wait wait{store_wait::moment::max()};
    auto const own = std::make_shared<task>();
    own->call = std::move(call);
    std::unique_lock lock{mutex_};
    if (tasks_.size() >= idle_) {
        try {
            threads_.emplace_back([this] { work(); });
        } catch (std::system_error const&) {
            // A call without a thread is waited for.
            if (threads_.empty()) return own->call(), std::string_view{};
        }
    }
    tasks_.push_back(own);
    has_task_.notify_one();
    while (!own->is_over) {
        auto const left = wait.left();
        if (!left) {
            if (own->ended.wait_for(lock, longer, [&] { return own->is_over; })) break;
            return wait.limit();
        }
        // A sum of the clock's time and the longest wait would overflow.
        own->ended.wait_for(lock,
                            std::min<std::chrono::milliseconds>(*left, std::chrono::hours{1}));
    }
    if (own->thrown) std::rethrow_exception(own->thrown);
    return {};
}

SETTLE_FUNCTION void driver_threads::work() {
    std::unique_lock lock{mutex_};
    for (;;) {
        ++idle_;
        has_task_.wait(lock, [&] { return ends_ || !tasks_.empty(); });
        --idle_;
        if (tasks_.empty()) return;
        auto const next = std::move(tasks_.front());
        tasks_.pop_front();
        lock.unlock();
        try {
            next->call();
        } catch (...) {
            next->thrown = std::current_exception();
        }
        // A call that nobody waits for gives its client back here.
        next->call = nullptr;
        lock.lock();
        next->is_over = true;
        next->ended.notify_one();
    }
}

} // namespace mongodb::detail

SETTLE_END
