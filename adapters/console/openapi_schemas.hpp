// SPDX-License-Identifier: BSL-1.0
// The parts of the description of a console's JSON: schemas of values and objects.
#pragma once

#include "views.hpp"

SETTLE_BEGIN
namespace detail {

namespace openapi {

using members = std::vector<std::pair<std::string, console_json>>;

[[nodiscard]] inline console_json typed(std::string_view type) { return {{"type", type}}; }
[[nodiscard]] inline console_json or_null(std::string_view type) {
    return {{"type", console_json::array({type, "null"})}};
}
[[nodiscard]] inline console_json list_of(console_json items) {
    return {{"type", "array"}, {"items", std::move(items)}};
}
[[nodiscard]] inline console_json one_of(console_json::initializer_list_t const& schemas) {
    return {{"anyOf", console_json::array(schemas)}};
}
[[nodiscard]] inline console_json choice(console_json const& values) {
    return {{"type", "string"}, {"enum", values}};
}
[[nodiscard]] inline console_json reference(std::string const& name) {
    return {{"$ref", "#/components/schemas/" + name}};
}
[[nodiscard]] inline console_json time_of_day() {
    return {{"type", "string"}, {"format", "date-time"}};
}

/// An object that has all `always`, and no member but these and `sometimes`.
[[nodiscard]] inline console_json object(members const& always, members const& sometimes = {}) {
    console_json properties = console_json::object();
    console_json required = console_json::array();
    for (auto const& [name, schema] : always) {
        properties[name] = schema;
        required.push_back(name);
    }
    for (auto const& [name, schema] : sometimes) properties[name] = schema;
    return {{"type", "object"},
            {"properties", std::move(properties)},
            {"required", std::move(required)},
            {"additionalProperties", false}};
}

[[nodiscard]] inline console_json state_names(console_json names) {
    for (auto const each : all_states) names.push_back(name_of(each));
    return choice(names);
}

/// Of the overview.
[[nodiscard]] console_json overview();

} // namespace openapi

} // namespace detail
SETTLE_END
