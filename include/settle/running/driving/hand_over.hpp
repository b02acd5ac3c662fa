// SPDX-License-Identifier: BSL-1.0
// Whether committed transactions can be handed over to the finisher of their engine.
#pragma once

#include <settle/version.hpp>

#include <atomic>
#include <cstddef>

SETTLE_BEGIN
namespace detail {

struct hand_over {
    static constexpr std::size_t most = 10'000; ///< a bound for the memory

    std::atomic<std::size_t> unfinished{0}; ///< of those that were handed over
    std::atomic<bool> is_open{true};

    [[nodiscard]] bool has_room() const noexcept { return is_open && unfinished < most; }
};

} // namespace detail
SETTLE_END
