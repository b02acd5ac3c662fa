// SPDX-License-Identifier: BSL-1.0
// A wait for the socket of a database's server.
#pragma once

#include <settle/store/caller_wait.hpp>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <limits>

#include <poll.h>

SETTLE_BEGIN
namespace detail {

/// Waits until a socket is ready; false when the time is over.
/// Shape:   events - of poll()
[[nodiscard]] inline bool wait_for_socket(int socket, short events, store_wait& wait) {
    while (auto const left = wait.left()) {
        auto const most = std::chrono::milliseconds{std::numeric_limits<int>::max()};
        pollfd waits{socket, events, 0};
        int const ready = ::poll(&waits, 1, static_cast<int>(std::min(*left, most).count()));
        if (ready > 0) return true;
        if (ready < 0 && errno != EINTR) return false;
    }
    return false;
}

} // namespace detail
SETTLE_END
