// SPDX-License-Identifier: BSL-1.0
// The order, within this process, in which sessions with servers begin and waves are sent.
#pragma once

#include <settle/version.hpp>

#include <atomic>
#include <cstdint>

SETTLE_BEGIN

/// Later moments are greater; 0 is none.
using session_moment = std::uint64_t;

namespace detail {

[[nodiscard]] inline session_moment next_session_moment() noexcept {
    static std::atomic<session_moment> last{0};
    return ++last;
}

} // namespace detail
SETTLE_END
