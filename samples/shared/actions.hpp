// SPDX-License-Identifier: BSL-1.0
// Actions of an operator as text and as JSON: what they would do, and what they did.
#pragma once

#include "settings.hpp"
#include "text.hpp"

#include <settle/running/calls/forecast.hpp>
#include <settle/running/calls/outcome.hpp>
#include <settle/running/driving/call_pauses.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace samples {

/// What an action would do with the entries of a choice.
struct action_plan {
    settle::operator_action action{};
    settle::forecast_counts counts{};
    std::vector<settle::transaction_id> ids{}; ///< of the entries that it would change
    std::optional<std::uint64_t> young{};      ///< of a recovery: the entries that it would leave
};

/// What an action did with the entries of a plan.
struct action_report {
    struct failure {
        std::string id;
        std::string sentence;
    };

    settle::operator_action action{};
    std::map<settle::verdict, std::uint64_t> ended{};
    std::vector<failure> failures{}; ///< the first of them
    exit_code code = exit_code::settled;

    void add(settle::outcome const& ended_as);
};

/// What the outcome of an action means for the exit code.
exit_code exit_code_of(settle::operator_action action, settle::outcome const& ended);

std::string to_text(action_plan const& plan);
std::string to_json_text(action_plan const& plan);

/// What an action would do with one entry.
/// Shape:   id - of the entry, or one that the log does not have
std::string forecast_text(std::string_view id, settle::action_forecast const& forecast);
std::string forecast_json(settle::operator_action action, std::string_view id,
                          settle::action_forecast const& forecast);

std::string to_text(action_report const& report);
std::string to_json_text(action_report const& report);
std::string to_json_text(settle::operator_action action, std::string_view id,
                         settle::outcome const& ended);
std::string to_json_text(settle::recovery_report const& report, settle::sweep_report const& swept);

/// What pausing or resuming calls changes; for a dry run, what it would change.
std::string pause_text(std::string_view action, settle::call_pause const& pause, bool changes);
std::string pause_json(std::string_view action, settle::call_pause const& pause, bool changes,
                       bool is_dry_run);

/// Asks a person at a terminal whether an action shall change the entries of a plan.
/// Errors:  throws input_error without a terminal, and unless the answer is yes
void ask_person(action_plan const& plan);

} // namespace samples
