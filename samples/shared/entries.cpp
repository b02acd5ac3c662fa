// SPDX-License-Identifier: BSL-1.0
// Writes entries as text and as JSON.
#include "entries.hpp"

#include "json.hpp"
#include "printable.hpp"
#include "sentence.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>
#include <ctime>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace samples {

namespace {

/// The state to show; a damaged entry's state is unknown.
std::string_view shown_state(settle::entry const& entry) {
    return entry.fault.empty() ? name_of(entry.state) : "damaged";
}

/// Why the entry was canceled ("source: guard failed"), or its fault.
std::string why(settle::entry const& entry) {
    if (!entry.fault.empty()) return entry.fault;
    if (entry.why == settle::reason::none) return {};
    std::string where = entry.participant;
    if (entry.line) where += fmt::format(" line {}", *entry.line + 1);
    return fmt::format("{}{}{}{}{}", where, where.empty() ? "" : ": ", name_of(entry.why),
                       entry.why_text.empty() ? "" : ": ", without_prefix(entry.why_text));
}

/// A damaged entry is shown, too: what is no JSON there is shown as a text.
json_value::members to_members(settle::entry const& entry) {
    json_value::members shown{
        {"id", entry.id},
        {"type", entry.type},
        {"state", shown_state(entry)},
        {"reason", entry.why == settle::reason::none ? json_value{} : name_of(entry.why)},
        {"participant", entry.participant},
        {"created", utc(entry.created)},
        {"modified", utc(entry.modified)},
        {"attempts", entry.attempts},
        {"epoch", entry.epoch_number},
        {"committed", entry.committed},
        {"owner", entry.owner},
        {"definition", entry.definition},
        {"parameters", json_value::parsed(entry.parameters)},
    };
    if (!entry.fault.empty()) shown.emplace_back("fault", entry.fault);
    if (!entry.why_text.empty()) {
        shown.emplace_back("reason_text", std::string{without_prefix(entry.why_text)});
    }
    // People count lines from 1.
    if (entry.line) shown.emplace_back("line", *entry.line + 1);
    std::vector<json_value> images;
    for (settle::image const& each : entry.images) {
        images.push_back(json_value::object({{"participant", each.participant},
                                             {"line", each.line + 1},
                                             {"before", json_value::parsed(each.before)},
                                             {"after", json_value::parsed(each.after)}}));
    }
    if (!images.empty()) shown.emplace_back("images", json_value::list(images));
    std::vector<json_value> results;
    for (settle::kept_result const& each : entry.results) {
        json_value::members members{{"participant", each.participant},
                                    {"line", each.line + 1},
                                    {"value", json_value::parsed(each.value)}};
        if (each.closed) members.emplace_back("closed", *each.closed);
        results.push_back(json_value::object(members));
    }
    if (!results.empty()) shown.emplace_back("results", json_value::list(results));
    return shown;
}

} // namespace

std::string utc(settle::timestamp when) {
    auto const seconds = std::chrono::floor<std::chrono::seconds>(when.time_since_epoch());
    // The system's clock counts nanoseconds, and ends before the year 2263.
    return fmt::format("{:%F %T}Z", fmt::gmtime(std::time_t{seconds.count()}));
}

std::string list_head() {
    return fmt::format("{:<20} {:<16} {:<9} {:<20} {}", "id", "type", "state", "modified", "why");
}

std::string list_line(settle::entry const& entry) {
    return fmt::format("{:<20} {:<16} {:<9} {:<20} {}", printable(entry.id), printable(entry.type),
                       shown_state(entry), utc(entry.modified), printable(why(entry)));
}

std::string to_text(settle::entry const& entry) {
    std::string text;
    for (auto const& [name, value] : to_members(entry)) {
        auto const shown = value.is_null() ? std::string{}
                           : value.text()  ? printable(*value.text())
                                           : value.to_ascii(2);
        text += fmt::format("{:<12} {}\n", name, shown.empty() ? "-" : shown);
    }
    return text;
}

std::string to_json_text(settle::entry const& entry, int indent) {
    return json_value::object(to_members(entry)).to_ascii(indent);
}

} // namespace samples
