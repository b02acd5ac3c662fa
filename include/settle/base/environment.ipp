// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that environment.hpp declares.
#pragma once

#include <settle/base/chrono.hpp>
#include <settle/base/environment.hpp>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <random>

SETTLE_BEGIN

SETTLE_FUNCTION std::uint64_t system_environment::random() const {
    // Every transaction draws a number; splitmix64 is cheap and good enough. State 0 means "not
    // seeded". It recurs once in 2⁶⁴ draws, and seeding again is then harmless.
    thread_local std::uint64_t state = 0;
    // A forked child must not draw the numbers of its parent.
    thread_local std::uint32_t seeded_in = 0;
    auto const forks = detail::fork_count.load(std::memory_order_relaxed);
    if (state == 0 || seeded_in != forks) [[unlikely]] {
        detail::count_forks();
        state = seed();
        seeded_in = forks;
    }
    std::uint64_t drawn = state += 0x9e3779b97f4a7c15U;
    drawn = (drawn ^ (drawn >> 30U)) * 0xbf58476d1ce4e5b9U;
    drawn = (drawn ^ (drawn >> 27U)) * 0x94d049bb133111ebU;
    return drawn ^ (drawn >> 31U);
}

SETTLE_FUNCTION void system_environment::pause(std::chrono::nanoseconds duration,
                                               std::stop_token const& stop) const {
    std::mutex mutex;
    std::unique_lock lock{mutex};
    std::condition_variable_any alarm;
    alarm.wait_for(lock, stop, duration, [] { return false; });
}

SETTLE_FUNCTION std::uint64_t system_environment::seed() {
    std::random_device device;
    std::uint64_t const high = device();
    return high << 32U | device();
}

namespace detail {

SETTLE_FUNCTION void pause_for(std::chrono::milliseconds wait, std::stop_token const& stop) {
    // A day at a time, since "for ever" cannot be added to the time of a clock.
    constexpr std::chrono::milliseconds day = std::chrono::hours{24};
    for (; wait.count() > 0 && !stop.stop_requested(); wait -= std::min(wait, day)) {
        system_environment{}.pause(std::min(wait, day), stop);
    }
}

} // namespace detail
SETTLE_END
