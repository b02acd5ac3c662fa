// SPDX-License-Identifier: BSL-1.0
// The limits of one caller, where a driver has jobs of several callers.
#pragma once

#include <settle/version.hpp>

#include <chrono>
#include <optional>
#include <stop_token>

SETTLE_BEGIN

struct caller_limits {
    std::stop_token stop{};
    std::optional<std::chrono::nanoseconds> deadline{}; ///< on the clock of elapsed()
};

SETTLE_END
