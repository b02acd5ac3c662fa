// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that horizon.hpp declares.
#pragma once

#include <settle/running/construction/horizon.hpp>

#include <charconv>
#include <system_error>

SETTLE_BEGIN
namespace detail {

[[nodiscard]] inline std::chrono::milliseconds read_horizon(std::string_view stored) noexcept {
    std::int64_t read = 0;
    auto const* const last = stored.data() + stored.size();
    auto const [end, fault] = std::from_chars(stored.data(), last, read);
    if (fault != std::errc{} || end != last) return std::chrono::milliseconds::max();
    return std::chrono::milliseconds{read};
}

SETTLE_FUNCTION result<std::chrono::milliseconds> keep_horizon(log_port& log,
                                                               std::chrono::milliseconds least) {
    for (;;) {
        auto const stored = log.metadata(horizon_metadata);
        if (!stored.has_value()) return stored.problem();
        if (stored.value()) {
            auto const kept = read_horizon(*stored.value());
            if (kept >= least) return kept;
        }
        // Another program may raise it at the same time.
        auto const text = std::to_string(least.count());
        auto const replaced = log.replace_metadata(horizon_metadata, stored.value(), text);
        if (!replaced.has_value()) return replaced.problem();
    }
}

} // namespace detail
SETTLE_END
