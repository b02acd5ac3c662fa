// SPDX-License-Identifier: BSL-1.0
// Clock, entropy and pauses: the driver's environment, which a test can replace.
#pragma once

#include <settle/base/process.hpp>
#include <settle/base/saturating.hpp>

#include <cstdint>
#include <stop_token>

SETTLE_BEGIN

/// The machine's own clock and entropy.
class system_environment {
public:
    [[nodiscard]] timestamp now() const {
        return std::chrono::time_point_cast<std::chrono::milliseconds>(
            std::chrono::system_clock::now());
    }

    /// A monotonic clock, for deadlines.
    [[nodiscard]] std::chrono::nanoseconds elapsed() const {
        return std::chrono::steady_clock::now().time_since_epoch();
    }

    /// 64 random bits.
    [[nodiscard]] std::uint64_t random() const;

    /// Waits; a stop request ends the wait.
    void pause(std::chrono::nanoseconds duration, std::stop_token const& stop) const;

private:
    static std::uint64_t seed();
};

namespace detail {

/// Waits for any duration, or until a stop request.
void pause_for(std::chrono::milliseconds wait, std::stop_token const& stop);

} // namespace detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/base/environment.ipp>
#endif
