// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that directions.hpp declares.
#pragma once

#include <settle/kinds/services/service_part.hpp>
#include <settle/running/calls/directions.hpp>
#include <settle/running/calls/ids.hpp>
#include <settle/running/calls/refusals.hpp>

#include <algorithm>

SETTLE_BEGIN
namespace detail {

/// True if a type has a participant that is a service.
/// Shape:   is_meant(type, service) - restricts the question
template <typename Meant>
[[nodiscard]] bool any_call(known_directions known, Meant&& is_meant) {
    return std::any_of(known.begin(), known.end(), [&](known_direction const& direction) {
        auto const& parts = direction.type->participants;
        return std::any_of(parts.begin(), parts.end(), [&](part_descriptor const& part) {
            return part.kind == &service_kind && is_meant(*direction.type, part);
        });
    });
}

SETTLE_FUNCTION bool has_calls(known_directions known) {
    return any_call(known, [](auto const&, auto const&) { return true; });
}

SETTLE_FUNCTION error check_pause(known_directions known, pause_scope scope, std::string_view name,
                                  std::string_view why) {
    constexpr std::size_t longest = 1000;
    auto fault = fault_of_text(why);
    if (why.empty() || why.size() > longest) fault = "is empty or has more than 1,000 bytes";
    if (!fault.empty()) {
        return {make_error_code(errc::bad_text), "settle: the reason of a pause " +
                                                     std::string{fault} +
                                                     ". Give another. See stuck#paused-calls"};
    }
    if (scope == pause_scope::transaction) return check_id(name);
    bool const is_type = scope == pause_scope::type;
    bool const is_known =
        any_call(known, [&](transaction_descriptor const& type, auto const& part) {
            return name == (is_type ? std::string_view{type.name()} : part.name);
        });
    if (is_known) return {};
    return {make_error_code(errc::bad_option),
            "settle: the engine has no " +
                std::string{is_type ? "type with calls that is named '" : "service '"} +
                std::string{name} + "'. Give the name in its definition. See stuck#paused-calls"};
}

SETTLE_FUNCTION result<known_direction const*> direction_for(known_directions known,
                                                             entry const& stored) {
    bool name_known = false;
    for (known_direction const& direction : known) {
        if (stored.type != direction.type->name()) continue;
        name_known = true;
        if (stored.definition == direction.type->definition()) return &direction;
    }
    return name_known ? other_definition(stored) : unknown_type(stored);
}

SETTLE_FUNCTION transaction_descriptor const& descriptor_for(known_directions known,
                                                             entry const& stored) {
    auto const found = direction_for(known, stored);
    return found.has_value() ? *found.value()->type : undescribed_descriptor();
}

SETTLE_FUNCTION result<held_parameters> read_parameters(transaction_descriptor const& type,
                                                        entry const& stored) {
    if (auto damaged = fault_of(stored); !damaged.empty()) return damaged;
    held_parameters parameters{type};
    auto const problem =
        read_whole(*type.codec, stored.parameters, json_form::exact, parameters.get());
    if (!problem.empty()) return damaged_parameters(stored, problem);
    auto const refused = type.check(parameters.get());
    if (refused.why != reason::none) {
        return refuse_parameters(stored.id, type, parameters.get(), refused).problem;
    }
    return parameters;
}

SETTLE_FUNCTION outcome
with_entry(known_directions known, entry const& stored,
           function_view<outcome(known_direction const&, void const* parameters)> function) {
    auto const direction = direction_for(known, stored);
    if (!direction.has_value()) return refuse(stored.id, direction.problem());
    auto const parameters = read_parameters(*direction.value()->type, stored);
    if (!parameters.has_value()) return refuse(stored.id, parameters.problem());
    return function(*direction.value(), parameters.value().get());
}

} // namespace detail
SETTLE_END
