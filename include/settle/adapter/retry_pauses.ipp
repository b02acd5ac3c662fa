// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that retry_pauses.hpp declares.
#pragma once

#include <settle/adapter/retry_pauses.hpp>

#include <algorithm>
#include <cstdint>
#include <random>
#include <thread>

SETTLE_BEGIN
namespace detail {

SETTLE_FUNCTION bool retry_pauses::next() {
    auto const left = wait_.left();
    if (!left) return false;
    thread_local std::minstd_rand chance{std::random_device{}()};
    std::uniform_int_distribution<std::int64_t> any{0, most_.count()};
    std::this_thread::sleep_for(
        std::min<std::chrono::microseconds>(*left, std::chrono::microseconds{any(chance)}));
    most_ = std::min(most_ * 2, std::chrono::microseconds{longest});
    return true;
}

} // namespace detail
SETTLE_END
