// SPDX-License-Identifier: BSL-1.0
// The names of the metadata that a log keeps about actions that persons took: in the order of their
// times, so that the last ones are listed first and old ones are purged.
#pragma once

#include <settle/store/seam.hpp>

#include <algorithm>

SETTLE_BEGIN
namespace detail {

inline constexpr std::string_view action_prefix = "action/";

/// The part of a name that tells when.
[[nodiscard]] inline std::string action_time(timestamp when) {
    constexpr std::size_t digits = 13; // until the year 2286
    auto number = std::to_string(std::max<std::int64_t>(when.time_since_epoch().count(), 0));
    return number.insert(0, digits - std::min(digits, number.size()), '0');
}

/// The names of all actions before an id, which may be a time.
[[nodiscard]] inline metadata_range actions_before(std::string_view id) {
    std::string const first{action_prefix};
    return {first, first + std::string{id}};
}
/// The names of all actions.
[[nodiscard]] inline metadata_range all_actions() {
    return {std::string{action_prefix}, "action0"};
}

} // namespace detail
SETTLE_END
