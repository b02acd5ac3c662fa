// SPDX-License-Identifier: BSL-1.0
// Actions on one entry.
#include "actions.hpp"

#include <algorithm>
#include <charconv>
#include <thread>

SETTLE_BEGIN
namespace detail {

namespace {

/// The options of a resolve; of another action, its fields are only checked.
[[nodiscard]] result<resolve_options> resolve_options_of(operator_action action,
                                                         console_fields const& fields) {
    auto const bad = [](std::string const& text) {
        return error{make_error_code(errc::bad_option), "settle: " + text};
    };
    auto problem = action == operator_action::resolve
                       ? check_fields(fields, {"dry_run", "seen", "participant", "why", "line",
                                               "pivot", "result"})
                       : check_fields(fields, {"dry_run", "seen"});
    if (!problem.empty()) return problem;
    resolve_options options;
    for (auto const& [name, value] : fields) {
        if (name == "line") {
            std::uint32_t line = 0;
            auto const* const end = value.data() + value.size();
            auto const read = std::from_chars(value.data(), end, line);
            if (read.ec != std::errc{} || read.ptr != end || line == 0)
                return bad("line is no number from 1 on");
            options.line = line - 1;
        } else if (name == "pivot") {
            bool const was_applied = value == "was_applied";
            if (!was_applied && value != "was_not_applied")
                return bad("pivot is was_applied or was_not_applied");
            options.pivot =
                was_applied ? pivot_outcome::was_applied : pivot_outcome::was_not_applied;
        } else if (name == "result") {
            if (!value.empty()) options.result = value;
        }
    }
    return options;
}

/// What a sweep would find.
struct sweep_forecast {
    std::uint64_t looked_at = 0;
    std::uint64_t left = 0; ///< by transactions that have ended
    std::uint64_t without_entry = 0;
    bool is_complete = false; ///< false: the time was over
};

[[nodiscard]] bool is_left(entry const& stored, epoch marked) {
    return stored.state == state::done || is_stray(standing_of(stored), marked);
}

[[nodiscard]] result<sweep_forecast> forecast_sweep(served_engine& engine,
                                                    std::chrono::milliseconds limit) {
    constexpr std::size_t page_size = 256;
    limited_wait const within{limit};
    auto const until = deadline_after(limit);
    sweep_forecast counted;
    for (store_port* const store : engine.ports().stores) {
        std::optional<mark_locator> after;
        for (std::size_t count = page_size; count == page_size;) {
            auto const page = store->marks(after, page_size);
            if (!page.has_value()) return page.problem();
            for (mark_locator const& mark : page.value()) {
                if (std::chrono::steady_clock::now() >= until) return counted;
                ++counted.looked_at;
                if (!mark.fault.empty()) continue;
                auto const stored = engine.find(mark.id, {limit, {}});
                if (!stored.has_value()) {
                    if (stored.problem().code == errc::damaged) continue;
                    return stored.problem();
                }
                if (!stored.value()) ++counted.without_entry;
                else if (is_left(*stored.value(), mark.epoch_number)) ++counted.left;
            }
            count = page.value().size();
            if (count != 0) after = page.value().back();
        }
    }
    counted.is_complete = true;
    return counted;
}

[[nodiscard]] unsigned status_of(verdict verdict) {
    if (verdict == verdict::refused) return 409;
    return verdict == verdict::undecided ? 503 : 200;
}

} // namespace

std::optional<operator_action> operator_action_from(std::string_view name) {
    for (auto const action : all_operator_actions) {
        if (name_of(action) == name) return action;
    }
    return std::nullopt;
}

std::string field(console_fields const& fields, std::string_view name) {
    auto const place = fields.find(name);
    return place == fields.end() ? std::string{} : place->second;
}

error check_fields(console_fields const& fields, std::initializer_list<std::string_view> names) {
    for (auto const& [name, value] : fields) {
        if (std::find(names.begin(), names.end(), name) != names.end()) continue;
        return {make_error_code(errc::bad_option),
                "settle: this action has no field '" + name + "'"};
    }
    return {};
}

console_reply not_kept(error const& problem) {
    // The row of an action on all may be there, and whoever finds it goes on with it.
    std::string const told = problem.code == condition::unknown
                                 ? "settle: nothing was done yet, and the log may keep the action "
                                   "or not. Look at /actions before you ask again: "
                                 : "settle: nothing was done, since the log could not keep who "
                                   "asked for it. Ask again: ";
    return problem_reply(503, told + problem.message());
}

outcome take_action(operator_action action, transaction_id const& id, console_fields const& fields,
                    served_engine& engine, std::chrono::milliseconds limit) {
    call_options const call{limit, {}};
    switch (action) {
    case operator_action::recover: return engine.retry(id, call);
    case operator_action::cancel: {
        cancel_options options;
        options.deadline = limit;
        return engine.cancel(id, options);
    }
    case operator_action::reverse: return engine.reverse(id, call);
    case operator_action::resolve: break;
    }
    auto options = resolve_options_of(action, fields);
    if (!options.has_value()) return refuse(id, options.problem());
    options.value().deadline = limit;
    return engine.resolve(id, field(fields, "participant"), field(fields, "why"), options.value());
}

std::string told_of(outcome const& ended) {
    auto text = ended.text();
    if (ended.problem.empty()) return text;
    return text.append(": ").append(ended.problem.message());
}

std::string seen_of(entry const& stored) {
    std::string seen{name_of(stored.state)};
    return seen.append("-")
        .append(std::to_string(stored.epoch_number))
        .append("-")
        .append(std::to_string(stored.revision));
}

console_reply act(operator_action action, transaction_id const& id, console_fields const& fields,
                  served_engine& engine, std::chrono::milliseconds limit, note_function note) {
    if (auto const options = resolve_options_of(action, fields); !options.has_value())
        return problem_reply(400, options.problem().message() + ". See console#actions");
    auto const stored = engine.find(id, {limit, {}});
    if (!stored.has_value()) return problem_reply(stored.problem());
    if (!stored.value()) return problem_reply(404, unknown_id(id).problem.message());
    auto const forecast = engine.forecast(action, *stored.value());
    auto const seen = seen_of(*stored.value());
    console_json data{{"action", name_of(action)}, {"id", id}};
    if (field(fields, "dry_run") == "1") {
        data["dry_run"] = true;
        data["allowed"] = forecast.is_allowed;
        data["effect"] = forecast.text;
        data["seen"] = seen;
        return {200, std::move(data)};
    }
    if (!forecast.is_allowed) return problem_reply(409, forecast.text);
    auto const expected = field(fields, "seen");
    if (expected.empty()) {
        return problem_reply(400, "settle: nothing was done. Ask with dry_run=1 first, and send "
                                  "the 'seen' of its answer. See console#actions");
    }
    if (expected != seen) {
        return problem_reply(409, "settle: nothing was done: the entry has moved since the dry "
                                  "run, it is " +
                                      std::string{name_of(stored.value()->state)} +
                                      " now. Ask with dry_run=1 again. See console#actions");
    }
    if (auto const problem = note(); !problem.empty()) return not_kept(problem);
    auto const ended = take_action(action, id, fields, engine, limit);
    data["verdict"] = name_of(ended.verdict);
    data["text"] = ended.text();
    if (!ended.problem.empty()) data["problem"] = ended.problem.message();
    return {status_of(ended.verdict), std::move(data)};
}

console_reply change_pause(bool pauses, console_fields const& fields, served_engine& engine,
                           std::chrono::milliseconds limit, note_function note) {
    if (auto const problem = check_fields(fields, {"scope", "name", "why"}); !problem.empty())
        return problem_reply(400, problem.message() + ". See console#paused-calls");
    auto const wanted = field(fields, "scope");
    auto const name = field(fields, "name");
    auto const* const scope =
        std::find_if(all_pause_scopes.begin(), all_pause_scopes.end(),
                     [&](pause_scope each) { return name_of(each) == wanted; });
    if (scope == all_pause_scopes.end() || name.empty()) {
        return problem_reply(400, "settle: nothing was done. Give scope as service, type or "
                                  "transaction, and its name. See console#paused-calls");
    }
    if (auto const problem = note(); !problem.empty()) return not_kept(problem);
    call_options const call{limit, {}};
    auto const changed = pauses ? engine.pause_calls(*scope, name, field(fields, "why"), call)
                                : engine.resume_calls(*scope, name, call);
    if (!changed.has_value()) {
        // The engine has no service or type of that name.
        auto const& code = changed.problem().code;
        unsigned const status = code == errc::bad_option ? 404 : code == errc::bad_text ? 400 : 503;
        return problem_reply(status, changed.problem().message());
    }
    return {200,
            {{"action", pauses ? "pause" : "resume"},
             {"scope", wanted},
             {"name", name},
             {"changed", *changed},
             {"text", "the calls of the " + wanted + " '" + name + "' are " +
                          (pauses ? "paused" : "made") + (*changed ? "" : ", as they were")}}};
}

console_reply sweep(console_fields const& fields, served_engine& engine,
                    std::chrono::milliseconds limit, note_function note) {
    if (auto const problem = check_fields(fields, {"dry_run", "seen"}); !problem.empty())
        return problem_reply(400, problem.message() + ". See console#sweep");
    auto const counted = forecast_sweep(engine, limit);
    if (!counted.has_value()) return problem_reply(counted.problem());
    auto const least = counted->is_complete ? "" : "at least ";
    auto const number = [&](std::uint64_t count) { return least + std::to_string(count); };
    console_json data{{"action", "sweep"}};
    // With more marks than there is time for, two counts differ.
    auto const seen = counted->is_complete ? std::to_string(counted->left) + "-" +
                                                 std::to_string(counted->without_entry)
                                           : std::string{"incomplete"};
    if (field(fields, "dry_run") == "1") {
        data["dry_run"] = true;
        data["allowed"] = true;
        data["effect"] = "Of " + number(counted->looked_at) + " marks and prepared transactions, " +
                         number(counted->left) +
                         " are of transactions that have ended, and are ended as these were; " +
                         number(counted->without_entry) +
                         " have no entry, and are undone: a call that is under way for one of "
                         "them is canceled.";
        data["seen"] = seen;
        return {200, std::move(data)};
    }
    auto const expected = field(fields, "seen");
    if (expected.empty()) {
        return problem_reply(400, "settle: nothing was done. Ask with dry_run=1 first, and send "
                                  "the 'seen' of its answer. See console#sweep");
    }
    if (expected != seen) {
        return problem_reply(409, "settle: nothing was done: the marks are others since the dry "
                                  "run. Ask with dry_run=1 again. See console#sweep");
    }
    if (auto const problem = note(); !problem.empty()) return not_kept(problem);
    std::stop_source stop;
    std::jthread const ends_it{[&](std::stop_token const& ended) {
        pause_for(limit * 5, ended);
        stop.request_stop();
    }};
    auto const report = engine.sweep(stop.get_token());
    auto text = std::to_string(report.looked_at) + " looked at, " + std::to_string(report.undone) +
                " undone, " + std::to_string(report.tombstones) + " ids closed";
    if (!report.skipped.empty()) {
        text += ", " + std::to_string(report.skipped.size()) +
                " left as they are, the first since: " + report.skipped.front().problem.message();
    }
    data["text"] = std::move(text);
    if (!report.problem.empty()) data["problem"] = report.problem.message();
    return {report.problem.empty() ? 200U : 503U, std::move(data)};
}

} // namespace detail
SETTLE_END
