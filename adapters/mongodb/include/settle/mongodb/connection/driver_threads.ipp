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
    try {
        threads_.perform([this, own] { perform(*own); });
    } catch (std::system_error const&) {
        return own->call(), std::string_view{}; // a call without a thread is waited for
    }
    std::unique_lock lock{mutex_};
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

SETTLE_FUNCTION void driver_threads::perform(task& next) {
    try {
        next.call();
    } catch (...) {
        next.thrown = std::current_exception();
    }
    // A call that nobody waits for gives its client back here.
    next.call = nullptr;
    std::scoped_lock const lock{mutex_};
    next.is_over = true;
    next.ended.notify_one();
}

} // namespace mongodb::detail

SETTLE_END
