// SPDX-License-Identifier: BSL-1.0
// Decides whether the next wave tries conditional updates, or reads its records first.
#pragma once

#include <settle/version.hpp>

#include <algorithm>
#include <atomic>

SETTLE_BEGIN
namespace detail {

/// After a conditional update that did not match, the next wave reads first; after a second miss in
/// a row the next 3 waves read first, then 7, and 63 at most.
class conditional_tries {
public:
    /// True if this wave tries a conditional update. Called once for each wave.
    [[nodiscard]] bool is_tried() noexcept {
        auto reads_left = reads_left_.load(std::memory_order_relaxed);
        while (reads_left > 0 && !reads_left_.compare_exchange_weak(reads_left, reads_left - 1)) {
        }
        return reads_left == 0;
    }
    /// Shape:   matched - true if the wave took effect without a read
    void ended(bool matched) noexcept {
        if (matched) {
            misses_.store(0, std::memory_order_relaxed);
            return;
        }
        unsigned const misses = std::min(misses_.load(std::memory_order_relaxed) + 1U, most);
        misses_.store(misses, std::memory_order_relaxed);
        reads_left_.store((1U << misses) - 1U, std::memory_order_relaxed);
    }

private:
    static constexpr unsigned most = 6;
    std::atomic<unsigned> reads_left_{0};
    std::atomic<unsigned> misses_{0};
};

} // namespace detail
SETTLE_END
