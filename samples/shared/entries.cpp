// SPDX-License-Identifier: BSL-1.0
#include "entries.hpp"

#include "text.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <ctime>
#include <string>
#include <string_view>

namespace samples {

namespace {

using json = nlohmann::ordered_json;

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

/// The JSON of a text; a text that is no JSON, as a damaged entry may have it, is shown as it is.
json parsed(std::string_view text) {
    if (text.empty()) return {};
    auto const value = json::parse(text, nullptr, false);
    return value.is_discarded() ? json(text) : value;
}

std::string dump(json const& value, int indent) {
    // ASCII alone, since a terminal obeys some other characters.
    return value.dump(indent, ' ', true, json::error_handler_t::replace);
}

json to_json(settle::entry const& entry) {
    json shown{{"id", entry.id},
               {"type", entry.type},
               {"state", shown_state(entry)},
               {"reason", entry.why == settle::reason::none ? json{} : json(name_of(entry.why))},
               {"participant", entry.participant},
               {"created", utc(entry.created)},
               {"modified", utc(entry.modified)},
               {"attempts", entry.attempts},
               {"epoch", entry.epoch_number},
               {"committed", entry.committed},
               {"owner", entry.owner},
               {"definition", entry.definition},
               {"parameters", parsed(entry.parameters)}};
    if (!entry.fault.empty()) shown["fault"] = entry.fault;
    if (!entry.why_text.empty()) shown["reason_text"] = without_prefix(entry.why_text);
    if (entry.call_tries != 0) shown["call_tries"] = entry.call_tries;
    if (entry.next_try != settle::timestamp{}) shown["next_try"] = utc(entry.next_try);
    if (!entry.traceparent.empty()) shown["traceparent"] = entry.traceparent;
    // People count lines from 1.
    if (entry.line) shown["line"] = *entry.line + 1;
    for (settle::image const& each : entry.images) {
        shown["images"].push_back({{"participant", each.participant},
                                   {"line", each.line + 1},
                                   {"before", parsed(each.before)},
                                   {"after", parsed(each.after)}});
    }
    for (settle::kept_result const& each : entry.results) {
        json result{{"participant", each.participant},
                    {"line", each.line + 1},
                    {"value", parsed(each.value)}};
        if (each.closed) result["closed"] = *each.closed;
        shown["results"].push_back(result);
    }
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
    auto const members = to_json(entry);
    for (auto const& [name, value] : members.items()) {
        auto const shown = value.is_null()     ? std::string{}
                           : value.is_string() ? printable(value.get<std::string>())
                                               : dump(value, 2);
        text += fmt::format("{:<12} {}\n", name, shown.empty() ? "-" : shown);
    }
    return text;
}

std::string to_json_text(settle::entry const& entry, int indent) {
    return dump(to_json(entry), indent);
}

std::string to_json_text(std::vector<settle::entry> const& entries,
                         std::vector<settle::call_pause> const& pauses) {
    json shown{{"entries", json::array()}, {"paused", json::array()}};
    for (settle::entry const& entry : entries) shown["entries"].push_back(to_json(entry));
    for (settle::call_pause const& pause : pauses) {
        shown["paused"].push_back(
            {{"scope", name_of(pause.scope)}, {"name", pause.name}, {"why", pause.why}});
    }
    return dump(shown, -1);
}

} // namespace samples
