// SPDX-License-Identifier: BSL-1.0
// The limits of one caller, where a driver has jobs of several callers.
#pragma once

#include <settle/version.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <limits>
#include <optional>
#include <stop_token>
#include <string>

SETTLE_BEGIN

struct caller_limits {
    std::stop_token stop{};
    std::optional<std::chrono::nanoseconds> deadline{}; ///< on the clock of elapsed()
    std::string traceparent{};                          ///< of call_options
    /// The observer's first exception at the transaction of this caller; the driver sets it.
    mutable std::exception_ptr thrown{};
};

/// Where a driver gets new jobs from, while others are under way.
struct job_source {
    std::atomic<bool> is_called = false; ///< there is something new to look at
    /// When it must be looked at in any case, in nanoseconds of elapsed().
    std::atomic<std::int64_t> until = std::numeric_limits<std::int64_t>::max();
};

SETTLE_END
