// SPDX-License-Identifier: BSL-1.0
// Actions on all entries that a filter matches.
#include "actions.hpp"

#include <settle/store/entry_facts.hpp>

#include <map>

SETTLE_BEGIN
namespace detail {

namespace {

/// The entries of one state, for which an action does the same.
struct action_group {
    std::uint64_t count = 0;
    std::string effect{}; ///< of the first of them
};

struct action_plan {
    std::map<std::pair<state, bool>, action_group> groups{}; ///< by state, and if it is allowed
    std::vector<transaction_id> ids{};                       ///< of those that are allowed

    [[nodiscard]] console_json shown() const {
        console_json rows = console_json::array();
        for (auto const& [key, group] : groups) {
            rows.push_back({{"state", name_of(key.first)},
                            {"count", group.count},
                            {"allowed", key.second},
                            {"effect", group.effect}});
        }
        return rows;
    }
};

[[nodiscard]] std::string taken_field(console_fields& fields, std::string_view name) {
    auto const place = fields.find(name);
    if (place == fields.end()) return {};
    std::string value = std::move(place->second);
    fields.erase(place);
    return value;
}

} // namespace

console_reply act_on_all(operator_action action, console_fields fields, served_engine& engine,
                         std::chrono::milliseconds limit,
                         function_view<void(transaction_id const&, std::string const&)> took) {
    bool const is_dry = taken_field(fields, "dry_run") == "1";
    bool const is_for_all = taken_field(fields, "all") == "1";
    auto const expected = taken_field(fields, "token");
    // They are of a page of a list.
    fields.erase("after");
    fields.erase("limit");
    if (action == operator_action::resolve)
        return problem_reply(400, "settle: a call is resolved for one entry. See console#actions");
    auto const filter = list_filter::from(fields);
    if (!filter.has_value()) return problem_reply(400, filter.problem().message());
    if (filter->fields.empty() && !is_for_all) {
        return problem_reply(400, "settle: nothing was done: the filter is empty. Give a filter, "
                                  "or all=1 for every entry. See console#actions");
    }
    action_plan plan;
    auto const seen = scan_matches(engine, *filter, limit, [&](entry const& stored) {
        auto const forecast = forecast_of(action, stored, engine);
        auto& group = plan.groups[{stored.state, forecast.is_allowed}];
        if (group.count++ == 0) group.effect = forecast.text;
        if (forecast.is_allowed) plan.ids.push_back(stored.id);
        return true;
    });
    if (!seen.has_value()) return problem_reply(seen.problem());
    if (!seen->is_complete) {
        return problem_reply(503, "settle: nothing was done: there was time for " +
                                      std::to_string(seen->looked_at) +
                                      " entries alone. Give a narrower filter. See "
                                      "console#actions");
    }
    console_json data{{"action", name_of(action)}, {"filter", filter->shown()}};
    data["would"] = plan.shown();
    auto const token = hex_of(fingerprint(json_text(data)));
    if (is_dry) {
        data["dry_run"] = true;
        data["allowed"] = plan.ids.size();
        data["token"] = token;
        return {200, std::move(data)};
    }
    if (expected != token) {
        return problem_reply(409, "settle: nothing was done: what the filter matches is not what "
                                  "a dry run has counted. Ask with dry_run=1 again, and send its "
                                  "token. See console#actions");
    }
    constexpr std::size_t most_failures = 20;
    auto const until = deadline_after(limit);
    std::map<std::string, std::uint64_t, std::less<>> verdicts;
    console_json failures = console_json::array();
    std::size_t acted_on = 0;
    for (transaction_id const& id : plan.ids) {
        if (std::chrono::steady_clock::now() >= until) break;
        auto const ended = take_action(action, id, {}, engine, limit);
        ++acted_on;
        ++verdicts[std::string{name_of(ended.verdict)}];
        took(id, told_of(ended));
        bool const is_failure = !ended.done() && !ended.canceled();
        if (is_failure && failures.size() < most_failures)
            failures.push_back({{"id", id}, {"problem", told_of(ended)}});
    }
    data.erase("would");
    data["ended"] = verdicts;
    data["left"] = plan.ids.size() - acted_on;
    data["failures"] = std::move(failures);
    return {200, std::move(data)};
}

} // namespace detail
SETTLE_END
