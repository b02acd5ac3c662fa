// SPDX-License-Identifier: BSL-1.0
// The filter of a list of entries.
#include "actions.hpp"

#include <algorithm>
#include <charconv>

SETTLE_BEGIN
namespace detail {

namespace {

[[nodiscard]] error bad_field(std::string_view name, std::string_view value,
                              std::string_view advice) {
    std::string text{"settle: the filter '"};
    text.append(name).append("=").append(value).append("' cannot be used. ").append(advice);
    return {make_error_code(errc::bad_option), text.append(". See console#list")};
}

/// Reads one field.
[[nodiscard]] error read_field(std::string_view name, std::string const& value, list_filter& to) {
    auto const read_span = [&](std::optional<std::chrono::milliseconds>& span) -> error {
        span = span_from(value);
        if (span) return {};
        return bad_field(name, value, "Give a time such as 90s, 30m, 2h or 1d");
    };
    if (std::find(filter_names.begin(), filter_names.end(), name) == filter_names.end()) {
        std::string advice{"There are"};
        for (auto const each : filter_names) advice.append(" ").append(each);
        return bad_field(name, value, advice);
    }
    if (name == "type") to.type = value;
    else if (name == "id") to.id_prefix = value;
    else if (name == "reason") to.reason = value;
    else if (name == "participant") to.participant = value;
    else if (name == "key") to.key = value;
    else if (name == "after") to.after = value;
    else if (name == "older") return read_span(to.older);
    else if (name == "still") return read_span(to.still);
    else if (name == "state") {
        to.is_unfinished = value == "unfinished";
        for (auto const each : all_states) {
            if (name_of(each) == value) to.state = each;
        }
        if (!to.is_unfinished && !to.state && value != "all")
            return bad_field(name, value, "Give all, unfinished, or the name of a state");
    } else {
        auto const* const end = value.data() + value.size();
        bool const is_limit = name == "limit";
        auto const read = is_limit ? std::from_chars(value.data(), end, to.limit)
                                   : std::from_chars(value.data(), end, to.looked);
        bool const is_number = read.ec == std::errc{} && read.ptr == end;
        if (!is_number || to.limit == 0 || to.limit > 1000)
            return bad_field(name, value,
                             is_limit ? "Give a number from 1 to 1000" : "Give a number");
    }
    return {};
}

} // namespace

result<list_filter> list_filter::from(console_fields const& fields) {
    list_filter filter;
    for (auto const& [name, value] : fields) {
        if (auto problem = read_field(name, value, filter); !problem.empty()) return problem;
        bool const is_of_page = name == "after" || name == "looked";
        if (!value.empty() && !is_of_page) filter.fields.emplace(name, value);
    }
    return filter;
}

entry_filter list_filter::of_log() const {
    entry_filter filter;
    if (state && !is_final(*state)) filter.state = state;
    filter.unfinished = is_unfinished;
    return filter;
}

bool list_filter::scans() const {
    bool const names_part = !type.empty() || !reason.empty() || !participant.empty();
    return names_part || !key.empty() || older || still || (state && is_final(*state));
}

bool list_filter::matches(entry const& stored, timestamp now,
                          std::chrono::milliseconds clocks) const {
    if (state && stored.state != *state) return false;
    bool const has_begun = stored.state != settle::state::initial;
    if (is_unfinished && (is_final(stored.state) || !has_begun)) return false;
    if (!type.empty() && stored.type != type) return false;
    if (!participant.empty() && stored.participant != participant) return false;
    if (!reason.empty() && name_of(stored.why) != reason) return false;
    if (still && age_of(stored.modified, now, clocks) < *still) return false;
    return !older || time_between(stored.created, now) >= *older;
}

console_json list_filter::shown() const {
    console_json shown = console_json::object();
    for (auto const& [name, value] : fields) shown[name] = value;
    return shown;
}

std::string list_filter::query(transaction_id const& after_id, std::uint64_t looked_at) const {
    std::string query;
    for (auto const& [name, value] : fields)
        query.append(name).append("=").append(percent_encoded(value)).append("&");
    query.append("after=").append(percent_encoded(after_id));
    return query.append("&looked=").append(std::to_string(looked_at));
}

result<matches_seen> scan_matches(served_engine& engine, list_filter const& wanted, timestamp now,
                                  scan_limits const& limits,
                                  function_view<bool(entry const&)> visit) {
    constexpr std::size_t entries_at_once = 256;
    call_options const call{limits.call, {}};
    auto const of_log = wanted.of_log();
    auto const is_match = [&](entry const& stored) {
        return wanted.matches(stored, now, engine.limits().clocks) &&
               (wanted.key.empty() || has_part_on(wanted.key, stored, engine.known()));
    };
    matches_seen seen{0, wanted.after};
    // A page of ids after the prefix lacks the id that is the prefix itself.
    if (!wanted.id_prefix.empty() && seen.after.empty()) {
        auto const first = engine.find(wanted.id_prefix, call);
        if (!first.has_value()) return first.problem();
        if (first.value() && is_match(*first.value()) && !visit(*first.value())) return seen;
    }
    if (seen.after < wanted.id_prefix) seen.after = wanted.id_prefix;
    auto const until = deadline_after(limits.scan);
    do {
        auto const entries = engine.page(of_log, seen.after, entries_at_once, call);
        if (!entries.has_value()) return entries.problem();
        for (entry const& stored : entries.value()) {
            seen.is_complete = !std::string_view{stored.id}.starts_with(wanted.id_prefix);
            if (seen.is_complete) return seen;
            if (is_match(stored) && !visit(stored)) return seen;
            ++seen.looked_at;
            seen.after = stored.id;
        }
        seen.is_complete = entries.value().size() < entries_at_once;
        if (seen.is_complete) return seen;
    } while (std::chrono::steady_clock::now() < until);
    seen.ends_early = true;
    return seen;
}

} // namespace detail
SETTLE_END
