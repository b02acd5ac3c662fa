// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that forecast.hpp declares.
#pragma once

#include <settle/running/calls/forecast.hpp>
#include <settle/running/calls/refusals.hpp>

#include <algorithm>
#include <utility>

SETTLE_BEGIN

SETTLE_FUNCTION void forecast_counts::add(entry const& stored, action_forecast const& forecast) {
    ++looked_at;
    if (forecast.is_allowed) ++allowed;
    auto const place = std::pair{stored.state, forecast.is_allowed};
    auto counted = std::find_if(groups.begin(), groups.end(), [&](group const& each) {
        return std::pair{each.state, each.is_allowed} >= place;
    });
    if (counted == groups.end() || std::pair{counted->state, counted->is_allowed} != place) {
        counted = groups.insert(counted, {stored.state, forecast.is_allowed, 0, forecast.text});
    }
    ++counted->count;
}

namespace detail {

[[nodiscard]] inline action_forecast not_allowed(std::string text) {
    return {false, std::move(text)};
}
[[nodiscard]] inline action_forecast not_allowed(error const& problem) {
    return not_allowed(problem.message());
}
[[nodiscard]] inline action_forecast allowed(std::string text) { return {true, std::move(text)}; }

/// Why this engine can do nothing with an entry; empty if it can.
[[nodiscard]] inline error why_unusable(entry const& stored, known_directions known) {
    if (!stored.fault.empty()) return {make_error_code(errc::damaged), stored.fault};
    auto const direction = direction_for(known, stored);
    if (!direction.has_value()) return direction.problem();
    auto const parameters = read_parameters(*direction.value()->type, stored);
    return parameters.has_value() ? error{} : parameters.problem();
}

[[nodiscard]] inline action_forecast forecast_recover(entry const& stored, options const& limits,
                                                      timestamp now) {
    switch (stored.state) {
    case state::initial: return allowed("It is run now, and ends done or canceled.");
    case state::pending:
        if (age_of(stored.created, now, limits.clocks) > limits.lifetime) {
            return allowed("It is older than options::lifetime, so it is never committed: what "
                           "was applied is compensated, and it ends canceled.");
        }
        return allowed("All parts are applied under a new epoch. If each is applied, it commits "
                       "and ends done; otherwise it ends canceled.");
    case state::deciding:
        return allowed("Its pivot is called again, and the answer decides: done or canceled.");
    case state::applied:
        return allowed("It is committed: its parts are confirmed, and it ends done.");
    case state::canceling: return allowed("What was applied is compensated, and it ends canceled.");
    default: return not_allowed("It has ended: it is " + std::string{name_of(stored.state)} + ".");
    }
}

[[nodiscard]] inline action_forecast forecast_cancel(entry const& stored) {
    switch (stored.state) {
    case state::initial: return allowed("Nothing of it was applied; it ends canceled.");
    case state::pending:
        return allowed("Whichever worker runs it stops, what was applied is compensated, and it "
                       "ends canceled.");
    case state::deciding: return not_allowed(pivot_decides(stored));
    case state::applied:
        return not_allowed(
            "It is committed, too late to cancel it; 'recover' brings it to its end.");
    case state::canceling:
        return not_allowed("It is being canceled; 'recover' brings it to its end now.");
    case state::done: return not_allowed("It is done, too late to cancel it.");
    default: return not_allowed("It is " + std::string{name_of(stored.state)} + " already.");
    }
}

[[nodiscard]] inline action_forecast forecast_reverse(entry const& stored, known_directions known,
                                                      options const& limits, timestamp now) {
    auto why = why_not_reversible(stored, now, limits);
    if (!why.empty()) return not_allowed(std::move(why));
    auto const direction = direction_for(known, stored);
    if (!direction.has_value()) return not_allowed(direction.problem());
    if (direction.value()->back == nullptr) return not_allowed(no_reversal(stored));
    return allowed("A new transaction '" + reversal_id(stored.id, 1) +
                   "' undoes its effects. It is canceled, with no effect, if a guard fails: for "
                   "example if what was received is spent.");
}

[[nodiscard]] inline action_forecast forecast_resolve(entry const& stored, known_directions known) {
    resolve_options options;
    bool const decides = stored.state == state::deciding;
    if (decides) options.pivot = pivot_outcome::was_applied;
    if (auto const problem = check_closing(stored, "any", options); !problem.empty())
        return not_allowed(problem);
    auto const direction = direction_for(known, stored);
    auto const& parts = direction.value()->type->participants;
    bool const has_call = std::any_of(parts.begin(), parts.end(), [&](part_descriptor const& part) {
        return part.make_result != nullptr && (!decides || part.is_pivot);
    });
    if (!has_call) return not_allowed("It has no call that a person could close.");
    if (decides) {
        return allowed("The pivot counts as applied, and it commits; or as not applied, and it "
                       "cancels. Ask the service first: nothing can test what you say.");
    }
    return allowed("The call that you name is closed with your reason, and the transaction goes on "
                   "without it. End the call at the service first.");
}

SETTLE_FUNCTION action_forecast forecast_of(operator_action action, entry const& stored,
                                            known_directions known, options const& limits,
                                            timestamp now) {
    bool const needs_definition = !is_final(stored.state) || action == operator_action::reverse;
    if (needs_definition || !stored.fault.empty()) {
        if (auto const problem = why_unusable(stored, known); !problem.empty())
            return not_allowed(problem);
    }
    switch (action) {
    case operator_action::recover: return forecast_recover(stored, limits, now);
    case operator_action::cancel: return forecast_cancel(stored);
    case operator_action::reverse: return forecast_reverse(stored, known, limits, now);
    case operator_action::resolve: break;
    }
    return forecast_resolve(stored, known);
}

} // namespace detail
SETTLE_END
