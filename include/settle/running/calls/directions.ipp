// SPDX-License-Identifier: BSL-1.0
// The bodies of functions that directions.hpp declares.
#pragma once

#include <settle/running/calls/directions.hpp>
#include <settle/running/calls/refusals.hpp>

SETTLE_BEGIN
namespace detail {

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
