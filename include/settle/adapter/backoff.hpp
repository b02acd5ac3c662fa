// SPDX-License-Identifier: BSL-1.0
// Decides whether to try a conditional update of records that were not read.
#pragma once

#include <settle/version.hpp>

#include <algorithm>
#include <atomic>

SETTLE_BEGIN
namespace detail {

/// After a miss the next wave reads at once; after a second miss in a row the next 3 waves, then 7,
/// and 63 at most.
class backoff {
public:
    [[nodiscard]] bool is_tried() noexcept {
        auto left = left_out_.load(std::memory_order_relaxed);
        while (left > 0 && !left_out_.compare_exchange_weak(left, left - 1)) {
        }
        return left == 0;
    }
    void ended(bool well) noexcept {
        if (well) {
            misses_.store(0, std::memory_order_relaxed);
            return;
        }
        unsigned const misses = std::min(misses_.load(std::memory_order_relaxed) + 1U, most);
        misses_.store(misses, std::memory_order_relaxed);
        left_out_.store((1U << misses) - 1U, std::memory_order_relaxed);
    }

private:
    static constexpr unsigned most = 6;
    std::atomic<unsigned> left_out_{0};
    std::atomic<unsigned> misses_{0};
};

} // namespace detail
SETTLE_END
