// SPDX-License-Identifier: BSL-1.0
// Pauses between the tries of an operation.
#pragma once

#include <settle/base/chrono.hpp>
#include <settle/base/saturating.hpp>
#include <settle/store/caller_wait.hpp>

SETTLE_BEGIN
namespace detail {

/// Pauses that grow and differ between callers.
class retry_pauses {
public:
    explicit retry_pauses(std::chrono::milliseconds longest_in_all = longest_effort)
        : wait_(deadline_after(longest_in_all)) {}

    static constexpr std::chrono::seconds longest_effort{15};

    /// Sleeps for a random time before the next try. Returns false, without a pause, when the total
    /// time is used up, or the engine's caller waits no longer.
    [[nodiscard]] bool next();

private:
    static constexpr std::chrono::milliseconds longest{50};
    store_wait wait_;
    std::chrono::microseconds most_{500};
};

} // namespace detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/adapter/retry_pauses.ipp>
#endif
