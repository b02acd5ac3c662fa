// SPDX-License-Identifier: BSL-1.0
// The clock of a server, as a client that does not ask again can know it.
#pragma once

#include <settle/version.hpp>

#include <chrono>
#include <cstdint>

SETTLE_BEGIN
namespace detail {

/// A time of a server, and the steady clock of this process when it was read.
class server_clock {
public:
    server_clock() = default;
    /// Shape:   milliseconds - since 1970, as the server has just said
    explicit server_clock(std::int64_t milliseconds) noexcept
        : milliseconds_(milliseconds), read_at_(std::chrono::steady_clock::now()) {}

    /// The server's time after a span from now, in milliseconds since 1970.
    [[nodiscard]] std::int64_t after(std::chrono::milliseconds span) const {
        auto const passed = std::chrono::steady_clock::now() - read_at_;
        return milliseconds_ +
               (std::chrono::duration_cast<std::chrono::milliseconds>(passed) + span).count();
    }

private:
    std::int64_t milliseconds_ = 0;
    std::chrono::steady_clock::time_point read_at_{};
};

} // namespace detail
SETTLE_END
