// SPDX-License-Identifier: BSL-1.0
// Pauses between the tries of an operation.
#pragma once

#include <settle/base/chrono.hpp>
#include <settle/base/saturating.hpp>

SETTLE_BEGIN
namespace detail {

/// Pauses that grow and differ between callers.
class retry_pauses {
public:
    explicit retry_pauses(std::chrono::milliseconds longest_in_all = longest_effort)
        : until_(deadline_after(longest_in_all)) {}

    static constexpr std::chrono::seconds longest_effort{15};

    /// Sleeps for a random time before the next try. Returns false, without a pause, when the total
    /// time is used up.
    [[nodiscard]] bool next();

private:
    using clock = std::chrono::steady_clock;
    static constexpr std::chrono::milliseconds longest{50};
    clock::time_point until_;
    std::chrono::microseconds most_{500};
};

} // namespace detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/adapter/retry_pauses.ipp>
#endif
