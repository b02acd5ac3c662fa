// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that deadlines.hpp declares.
#pragma once

#include <settle/running/driving/deadlines.hpp>

#include <algorithm>

SETTLE_BEGIN
namespace detail {

SETTLE_FUNCTION std::chrono::nanoseconds later_than(std::chrono::nanoseconds from,
                                                    std::chrono::milliseconds wait) {
    using std::chrono::nanoseconds;
    auto const room =
        std::chrono::duration_cast<std::chrono::milliseconds>(nanoseconds::max() - from);
    if (wait >= room) return nanoseconds::max();
    return from + std::max(wait, std::chrono::milliseconds{0});
}

SETTLE_FUNCTION wait_limits limits_of(call_options const& call) {
    wait_limits limits{call.stop};
    if (!call.deadline) return limits;
    using std::chrono::steady_clock;
    std::chrono::nanoseconds const now = steady_clock::now().time_since_epoch();
    limits.deadline = steady_clock::time_point{later_than(now, *call.deadline)};
    return limits;
}

SETTLE_FUNCTION call_options rest_of(call_options const& call,
                                     std::optional<std::chrono::nanoseconds> const& end,
                                     std::chrono::nanoseconds now) {
    using std::chrono::milliseconds;
    call_options rest{{}, call.stop, call.traceparent};
    if (end) {
        rest.deadline = std::max(std::chrono::floor<milliseconds>(*end - now), milliseconds{1});
    }
    return rest;
}

} // namespace detail
SETTLE_END
