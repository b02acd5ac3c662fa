// SPDX-License-Identifier: BSL-1.0
#include "bulk.hpp"

#include <settle/adapter/ownership.hpp>
#include <settle/store/action_names.hpp>
#include <settle/store/entry_facts.hpp>

#include <algorithm>

SETTLE_BEGIN
namespace detail {

namespace {

[[nodiscard]] console_json shown(forecast_counts const& counts) {
    console_json rows = console_json::array();
    for (auto const& group : counts.groups) {
        rows.push_back({{"state", name_of(group.state)},
                        {"count", group.count},
                        {"allowed", group.is_allowed},
                        {"effect", group.text}});
    }
    return rows;
}

[[nodiscard]] std::string taken_field(console_fields& fields, std::string_view name) {
    auto const place = fields.find(name);
    if (place == fields.end()) return {};
    std::string value = std::move(place->second);
    fields.erase(place);
    return value;
}

/// A claim that no other console has.
[[nodiscard]] console_json fresh_claim() {
    return {{"claim", fresh_log_name("")}, {"owner", this_process()}};
}

/// True if the transaction has the call once, so that it can be closed without its line.
[[nodiscard]] bool has_call(known_directions known, entry const& stored, std::string_view call) {
    auto const direction = direction_for(known, stored);
    if (!direction.has_value()) return false;
    transaction_descriptor const& type = *direction.value()->type;
    auto const parameters = read_parameters(type, stored);
    if (!parameters.has_value()) return false;
    bool is_found = false;
    type.for_each_part(parameters.value().get(), [&](part_descriptor const& part, std::size_t,
                                                     std::size_t number) {
        auto const name = type.name_part(parameters.value().get(), number);
        is_found =
            is_found || (part.make_result != nullptr && name.participant == call && !name.line);
    });
    return is_found;
}

/// Takes the fields of a resolve from the others; none of another action.
[[nodiscard]] result<console_fields> taken_closing(operator_action action, console_fields& fields) {
    console_fields closed;
    if (action != operator_action::resolve) return closed;
    for (auto const* const name : {"call", "why"}) closed[name] = taken_field(fields, name);
    constexpr std::size_t longest = 1000; // of a reason
    std::string const& why = closed["why"];
    if (!closed["call"].empty() && !why.empty() && why.size() <= longest) return closed;
    return error{make_error_code(errc::bad_option),
                 "settle: nothing was done. Give 'call', the participant whose calls are closed, "
                 "and 'why', of at most 1,000 bytes. See console#actions-on-all"};
}

/// What is told of an action on all, before it begins.
[[nodiscard]] console_json asked_of(operator_action action, list_filter const& filter,
                                    console_fields const& closed, forecast_counts const& counts,
                                    console_json& row) {
    console_json data{{"action", name_of(action)}, {"filter", filter.shown()}};
    for (auto const& [name, value] : closed) data[name] = row[name] = value;
    data["would"] = shown(counts);
    return data;
}

/// Calls `visit(stored, forecast)` for entries that match and were there at a time.
/// Shape:   call - that a resolve closes
[[nodiscard]] result<matches_seen>
scan_forecasts(served_engine& engine, operator_action action, std::string const& call,
               list_filter const& filter, timestamp asked, scan_limits const& limits,
               function_view<bool(entry const&, action_forecast const&)> visit) {
    return scan_matches(engine, filter, asked, limits, [&](entry const& stored) {
        if (stored.created > asked) return true;
        auto forecast = engine.forecast(action, stored);
        if (action == operator_action::resolve && stored.state == state::deciding) {
            forecast = {false, "Its service has to be asked whether its pivot was applied: "
                               "resolve this entry alone."};
        } else if (action == operator_action::resolve && forecast.is_allowed &&
                   !has_call(engine.known(), stored, call)) {
            forecast = {false, "It has no call '" + call + "' of one line."};
        }
        return visit(stored, forecast);
    });
}

[[nodiscard]] operator_action operator_action_of(console_json const& row) {
    return operator_action_from(row.at("action").get<std::string>()).value();
}

} // namespace

console_reply bulk_actions::ask(operator_action action, console_fields fields, console_json& row,
                                note_function note) {
    bool const is_dry = taken_field(fields, "dry_run") == "1";
    bool const is_for_all = taken_field(fields, "all") == "1";
    auto const expected = taken_field(fields, "token");
    // They are of a page of a list.
    fields.erase("after");
    fields.erase("limit");
    fields.erase("looked");
    auto closed = taken_closing(action, fields);
    if (!closed.has_value()) return problem_reply(400, closed.problem().text);
    auto const call = closed->empty() ? std::string{} : closed->at("call");
    auto const filter = list_filter::from(fields);
    if (!filter.has_value()) return problem_reply(400, filter.problem().message());
    if (filter->fields.empty() && !is_for_all) {
        return problem_reply(400, "settle: nothing was done: the filter is empty. Give a filter, "
                                  "or all=1 for every entry. See console#actions");
    }
    std::string filter_text;
    for (auto const& [name, value] : filter->fields)
        filter_text.append(filter_text.empty() ? "" : " ").append(name).append("=").append(value);
    row["of"] = filter_text.empty() ? "all" : filter_text;
    forecast_counts counts;
    auto const asked = engine_.now();
    auto const seen =
        scan_forecasts(engine_, action, call, *filter, asked, {action_limit(), action_limit()},
                       [&](entry const& stored, action_forecast const& forecast) {
                           counts.add(stored, forecast);
                           return true;
                       });
    if (!seen.has_value()) return problem_reply(seen.problem());
    if (!seen->is_complete) {
        return problem_reply(503, "settle: nothing was done: there was time for " +
                                      std::to_string(seen->looked_at) +
                                      " entries alone. Give a narrower filter. See "
                                      "console#actions");
    }
    console_json data = asked_of(action, *filter, *closed, counts, row);
    auto const token = hex_of(fingerprint(json_text(data)));
    if (is_dry) {
        data["dry_run"] = true;
        data["allowed"] = counts.allowed;
        data["token"] = token;
        return {200, std::move(data)};
    }
    if (expected != token) {
        return problem_reply(409, "settle: nothing was done: what the filter matches is not what "
                                  "a dry run has counted. Ask with dry_run=1 again, and send its "
                                  "token. See console#actions");
    }
    row["filter"] = filter->shown();
    row["state"] = "running";
    row["allowed"] = counts.allowed;
    row["handled"] = 0;
    row["ended"] = console_json::object();
    row["failed"] = 0;
    row["failed_by_reason"] = console_json::object();
    row["failures"] = console_json::array();
    row["work"] = fresh_claim();
    row["work"].update({{"log", engine_.ports().log.name()},
                        {"asked", asked.time_since_epoch().count()},
                        {"after", ""},
                        {"is_complete", false},
                        {"next", console_json::array()}});
    if (auto const problem = note(); !problem.empty()) return not_kept(problem);
    data.erase("would");
    data["state"] = "running";
    data["allowed"] = counts.allowed;
    return {202, std::move(data)};
}

console_reply bulk_actions::stop(std::string const& id, std::string const& person,
                                 note_function note) {
    for (bool is_noted = false;; is_noted = true) {
        auto stored_action = journal_.find(id);
        if (!stored_action.has_value()) return problem_reply(stored_action.problem());
        if (!stored_action.value()) return unknown_action(id);
        auto& action = *stored_action.value();
        if (!goes_on(action.row)) {
            return problem_reply(409, "settle: nothing was done: the action does not go on, it is "
                                      "'" +
                                          action.row.value("state", "damaged") + "'");
        }
        if (!is_noted) {
            if (auto const problem = note(); !problem.empty()) return not_kept(problem);
        }
        // Nobody goes on with an action of another log.
        char const* const state = is_of_this_log(action.row) ? "stopping" : "stopped";
        action.row["state"] = state;
        action.row["stopped_by"] = person;
        auto const replaced = journal_.replace(action);
        if (!replaced.has_value()) return problem_reply(replaced.problem());
        if (!*replaced) continue;
        for (job& own : own_) {
            if (own.kept.id == id) own.must_save = true;
        }
        return {200,
                {{"action", "stop"},
                 {"id", id},
                 {"state", state},
                 {"text", "it is " + std::string{state}}}};
    }
}

bool bulk_actions::is_of_this_log(console_json const& row) const {
    return row.contains("work") && row["work"].is_object() &&
           row["work"].value("log", console_json{}) == engine_.ports().log.name();
}

std::chrono::milliseconds bulk_actions::work() {
    if (std::chrono::steady_clock::now() >= next_look_) look();
    if (own_.empty()) return look_every();
    // The others have their turn before its next one.
    own_.splice(own_.end(), own_, own_.begin());
    try {
        switch (step(own_.back())) {
        case step_end::more: return std::chrono::milliseconds{0};
        case step_end::over: own_.pop_back(); return std::chrono::milliseconds{0};
        case step_end::waits: break;
        }
    } catch (std::exception const&) {
        // Of options::audit, or for a row that a person has damaged. It is claimed again later.
        own_.pop_back();
    }
    return std::min<std::chrono::milliseconds>(look_every(), std::chrono::seconds{1});
}

void bulk_actions::look() {
    constexpr std::size_t rows_at_once = 100;
    next_look_ = std::chrono::steady_clock::now() + look_every();
    auto oldest = action_time(engine_.now());
    std::string before;
    for (bool more = true; more;) {
        auto listed = journal_.before(before, rows_at_once);
        // The next look finds them.
        if (!listed.has_value()) return;
        more = listed->size() == rows_at_once;
        if (more) before = listed->back().id;
        for (kept_action& action : *listed) {
            more = more && action.id > looked_to_;
            // An id begins with its time. A row that a person has damaged is nobody's.
            bool const has_time = action.id.substr(0, 1).find_first_of("0123456789") == 0;
            if (!has_time || !goes_on(action.row) || !is_of_this_log(action.row)) {
                watched_.erase(action.id);
                continue;
            }
            oldest = std::min(oldest, action.id);
            bool const is_own = std::any_of(
                own_.begin(), own_.end(), [&](job const& own) { return own.kept.id == action.id; });
            if (is_own) continue;
            try {
                watch(std::move(action));
            } catch (console_json::exception const&) {
                // It is damaged, too.
            }
        }
    }
    // An id has the time of a machine whose clock may be behind.
    auto const when = timestamp{std::chrono::milliseconds{std::stoll(oldest)}};
    looked_to_ = action_time(earlier(when, engine_.limits().clocks));
}

void bulk_actions::watch(kept_action&& action) {
    auto const now = std::chrono::steady_clock::now();
    auto& watched = watched_[action.id];
    if (watched.text != action.text) watched = {action.text, now};
    auto& work = action.row.at("work");
    bool const is_left =
        is_gone(work.at("owner").get<std::string>()) || now - watched.since >= action_limit() * 2;
    if (!is_left) return;
    work.update(fresh_claim());
    if (!journal_.replace(action).value_or(false)) return;
    watched_.erase(action.id);
    begin(std::move(action));
}

bulk_actions::step_end bulk_actions::step(job& own) {
    using std::chrono::steady_clock, std::chrono::milliseconds;
    auto& row = own.kept.row;
    auto const end = [&](char const* state) {
        row["state"] = state;
        return save(own) == step_end::waits ? step_end::waits : step_end::over;
    };
    if (own.must_save) {
        if (auto const saved = save(own); saved != step_end::more) return saved;
    }
    if (!goes_on(row)) return step_end::over;
    if (row.at("state") == "stopping") return end("stopped");
    auto& work = row.at("work");
    if (work.at("next").empty()) {
        if (work.at("is_complete") == true) return end("done");
        if (auto const problem = plan(row); !problem.empty()) {
            row["problem"] = problem.message();
            static_cast<void>(save(own));
            return step_end::waits;
        }
        row.erase("problem");
        // The ids are in the log before the first of them is acted on: a console that takes over
        // counts each of them once.
        return save(own);
    }
    // Other questions are answered in between.
    auto const until = steady_clock::now() + milliseconds{50};
    while (!work.at("next").empty() && steady_clock::now() < until) act_on_next(row);
    bool const is_due = steady_clock::now() - own.saved >= std::chrono::seconds{1};
    return is_due ? save(own) : step_end::more;
}

error bulk_actions::plan(console_json& row) {
    constexpr std::size_t ids_at_once = 64;
    auto& work = row.at("work");
    auto filter = list_filter::from(row.at("filter").get<console_fields>());
    if (!filter.has_value()) return filter.problem();
    filter->after = work.at("after").get<std::string>();
    timestamp const asked{std::chrono::milliseconds{work.at("asked").get<std::int64_t>()}};
    auto next = console_json::array();
    auto const seen = scan_forecasts(engine_, operator_action_of(row), row.value("call", ""),
                                     *filter, asked, {limit_, std::chrono::milliseconds{100}},
                                     [&](entry const& stored, action_forecast const& forecast) {
                                         if (next.size() == ids_at_once) return false;
                                         if (forecast.is_allowed) next.push_back(stored.id);
                                         return true;
                                     });
    if (!seen.has_value()) return seen.problem();
    work["after"] = seen->after;
    work["is_complete"] = seen->is_complete;
    work["next"] = std::move(next);
    return {};
}

void bulk_actions::act_on_next(console_json& row) {
    constexpr std::size_t most_failures = 20; ///< and most reasons
    auto& next = row.at("work").at("next");
    auto const id = next.front().get<transaction_id>();
    console_fields closed;
    if (row.contains("call"))
        closed = {{"participant", row["call"].get<std::string>()},
                  {"why", row.at("why").get<std::string>()}};
    auto const ended = take_action(operator_action_of(row), id, closed, engine_, action_limit());
    next.erase(next.begin());
    row["handled"] = row.at("handled").get<std::uint64_t>() + 1;
    auto const count_in = [](console_json& counts, std::string const& name) {
        auto& count = counts[name];
        count = count.is_null() ? 1 : count.get<std::uint64_t>() + 1;
    };
    std::string reason{name_of(ended.verdict)};
    count_in(row["ended"], reason);
    if (!ended.done() && !ended.canceled()) {
        row["failed"] = row.at("failed").get<std::uint64_t>() + 1;
        if (!ended.problem.empty()) reason += ": " + ended.problem.code.message();
        auto& reasons = row["failed_by_reason"];
        bool const has_room = reasons.size() < most_failures || reasons.contains(reason);
        count_in(reasons, has_room ? reason : "another reason");
        auto& failures = row.at("failures");
        if (failures.size() < most_failures)
            failures.push_back({{"id", id}, {"problem", told_of(ended)}});
    }
    told_(row, id, told_of(ended));
}

bulk_actions::step_end bulk_actions::save(job& own) {
    auto& row = own.kept.row;
    own.must_save = true;
    for (;;) {
        auto const replaced = journal_.replace(own.kept);
        if (!replaced.has_value()) return step_end::waits;
        if (*replaced) break;
        auto stored_action = journal_.find(own.kept.id);
        if (!stored_action.has_value()) return step_end::waits;
        // Another console has taken it over, or it was purged.
        if (!stored_action.value() ||
            stored_action.value()->row.at("work").at("claim") != row["work"]["claim"])
            return step_end::over;
        auto& stored = *stored_action.value();
        own.kept.text = std::move(stored.text);
        if (!stored.row.contains("stopped_by")) continue;
        row["stopped_by"] = stored.row["stopped_by"];
        if (row["state"] == "running") row["state"] = "stopping";
    }
    own.must_save = false;
    own.saved = std::chrono::steady_clock::now();
    return step_end::more;
}

} // namespace detail
SETTLE_END
