// SPDX-License-Identifier: BSL-1.0
#include "journal.hpp"

#include <settle/adapter/ownership.hpp>
#include <settle/store/action_names.hpp>

#include <charconv>

SETTLE_BEGIN
namespace detail {

namespace {

[[nodiscard]] std::string name_of_action(std::string_view id) {
    return std::string{action_prefix}.append(id);
}

[[nodiscard]] kept_action read_action(metadata_text stored) {
    auto row = console_json::parse(stored.text, nullptr, false);
    bool const is_usable = row.is_object() && row.contains("state") && row["state"].is_string();
    if (!is_usable) row = {{"state", "damaged"}};
    return {stored.name.substr(action_prefix.size()), std::move(stored.text), std::move(row)};
}

/// What a person sees of a row.
[[nodiscard]] console_json shown_action(kept_action const& action) {
    console_json data{{"id", action.id}};
    data.update(action.row);
    data.erase("work");
    if (!data.contains("handled")) return data;
    auto text = data["handled"].dump() + " of " + data["allowed"].dump() + " handled";
    for (auto const& [verdict, count] : data["ended"].items())
        text.append(", ").append(count.dump()).append(" ").append(verdict);
    data["result"] = text;
    return data;
}

[[nodiscard]] console_json action_summary(kept_action const& action) {
    auto const data = shown_action(action);
    console_json row;
    for (auto const* const name : {"id", "when", "name", "action", "of", "state", "result"})
        row[name] = data.contains(name) ? data[name] : console_json(nullptr);
    return row;
}

} // namespace

result<kept_action> action_journal::insert(timestamp when, console_json const& row) {
    limited_wait const within{limit_};
    kept_action action{action_time(when) + fresh_log_name("-"), json_text(row), row};
    auto const written =
        log_.replace_metadata(name_of_action(action.id), std::nullopt, action.text);
    if (!written.has_value()) return written.problem();
    return action;
}

result<bool> action_journal::replace(kept_action& action) {
    limited_wait const within{limit_};
    auto const name = name_of_action(action.id);
    auto text = json_text(action.row);
    auto const written = log_.replace_metadata(name, action.text, text);
    if (!written.has_value()) return written.problem();
    auto const stored = log_.metadata(name);
    if (!stored.has_value()) return stored.problem();
    if (stored.value() != text) return false;
    action.text = std::move(text);
    return true;
}

result<std::optional<kept_action>> action_journal::find(std::string const& id) {
    limited_wait const within{limit_};
    auto const name = name_of_action(id);
    auto stored = log_.metadata(name);
    if (!stored.has_value()) return stored.problem();
    if (!stored.value()) return std::optional<kept_action>{};
    return std::optional{read_action({name, *std::move(stored).value()})};
}

result<std::vector<kept_action>> action_journal::before(std::string const& id, std::size_t limit) {
    limited_wait const within{limit_};
    auto listed = log_.list_metadata(id.empty() ? all_actions() : actions_before(id), limit);
    if (!listed.has_value()) return listed.problem();
    std::vector<kept_action> actions;
    for (auto& stored : listed.value()) actions.push_back(read_action(std::move(stored)));
    return actions;
}

console_reply action_journal::list(console_fields const& fields) {
    std::string last;
    std::size_t limit = 50;
    for (auto const& [name, value] : fields) {
        if (name == "before") {
            last = value;
            continue;
        }
        auto const* const end = value.data() + value.size();
        auto const read = std::from_chars(value.data(), end, limit);
        bool const is_number = read.ec == std::errc{} && read.ptr == end;
        if (name == "limit" && is_number && limit > 0 && limit <= 1000) continue;
        return problem_reply(400, "settle: the field '" + name +
                                      "' cannot be used. There are before, an id, and limit, a "
                                      "number from 1 to 1000. See console#the-journal");
    }
    auto const actions = before(last, limit);
    if (!actions.has_value()) return problem_reply(actions.problem());
    console_json data{{"next", nullptr}, {"actions", console_json::array()}};
    if (actions->size() == limit) {
        data["next"] = "actions?limit=" + std::to_string(limit) +
                       "&before=" + percent_encoded(actions->back().id);
    }
    for (kept_action const& action : *actions) data["actions"].push_back(action_summary(action));
    return {200, std::move(data)};
}

console_reply action_journal::show(std::string const& id) {
    auto const action = find(id);
    if (!action.has_value()) return problem_reply(action.problem());
    return action.value() ? console_reply{200, shown_action(**action)} : unknown_action(id);
}

bool goes_on(console_json const& row) {
    auto const state = row.value("state", "");
    return state == "running" || state == "stopping";
}

console_reply unknown_action(std::string const& id) {
    return problem_reply(404, "settle: the log has no action '" + id +
                                  "'. It was purged, or never taken. See console#the-journal");
}

} // namespace detail
SETTLE_END
