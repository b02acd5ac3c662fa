// SPDX-License-Identifier: BSL-1.0
// What an operator's action would do with an entry, by the rules of the protocol.
#pragma once

#include <settle/running/calls/directions.hpp>
#include <settle/running/construction/options.hpp>

#include <array>
#include <vector>

SETTLE_BEGIN

/// What an operator may do with an entry.
enum class operator_action : std::uint8_t {
    recover, ///< engine::retry()
    cancel,  ///< engine::cancel()
    reverse, ///< engine::reverse()
    resolve  ///< engine::resolve()
};

[[nodiscard]] constexpr std::string_view name_of(operator_action action) {
    constexpr std::string_view names[]{"recover", "cancel", "reverse", "resolve"};
    return names[static_cast<std::size_t>(action)];
}

inline constexpr std::array all_operator_actions{operator_action::recover, operator_action::cancel,
                                                 operator_action::reverse,
                                                 operator_action::resolve};

/// What an action would do, or why the protocol does not allow it.
struct action_forecast {
    bool is_allowed = false;
    std::string text{}; ///< sentences for a person
};

/// What an action would do with many entries.
struct forecast_counts {
    /// The entries of one state whose action is allowed, or those whose action is not.
    struct group {
        settle::state state;
        bool is_allowed;
        std::uint64_t count = 0;
        std::string text{}; ///< of the first entry
    };
    std::vector<group> groups{}; ///< in the order of the states, those that are not allowed first
    std::uint64_t looked_at = 0;
    std::uint64_t allowed = 0;

    void add(entry const& stored, action_forecast const& forecast);
};

namespace detail {

/// Shape:   known, limits - of the engine
[[nodiscard]] action_forecast forecast_of(operator_action action, entry const& stored,
                                          known_directions known, options const& limits,
                                          timestamp now);

} // namespace detail
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/running/calls/forecast.ipp>
#endif
