// SPDX-License-Identifier: BSL-1.0
#include "actions.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstdio>

#include <unistd.h>

namespace samples {

namespace {

using json = nlohmann::ordered_json;

/// One document, on one line.
std::string dump(json const& value) {
    // ASCII alone, since a terminal obeys some other characters.
    return value.dump(-1, ' ', true, json::error_handler_t::replace) + '\n';
}

std::string told_of(settle::outcome const& ended) { return ended.text() + cause_of(ended.problem); }

json skipped_rows(std::vector<settle::skipped_entry> const& skipped) {
    json rows = json::array();
    for (auto const& [id, problem] : skipped)
        rows.push_back({{"id", id}, {"problem", sentence_of(problem)}});
    return rows;
}

} // namespace

exit_code exit_code_of(settle::operator_action action, settle::outcome const& ended) {
    using settle::operator_action;
    bool const is_too_late = action == operator_action::cancel && ended.done();
    bool const is_without_effect = action == operator_action::reverse && ended.canceled();
    if (ended.verdict == settle::verdict::undecided) return exit_code::unsettled;
    bool const is_refused = ended.verdict == settle::verdict::refused;
    return is_refused || is_too_late || is_without_effect ? exit_code::refused : exit_code::settled;
}

void action_report::add(settle::outcome const& ended_as) {
    constexpr std::size_t most_failures = 20;
    ++ended[ended_as.verdict];
    auto const own = exit_code_of(action, ended_as);
    code = worse(code, own);
    if (own == exit_code::settled || failures.size() == most_failures) return;
    failures.push_back({ended_as.id, told_of(ended_as)});
}

std::string to_text(action_plan const& plan) {
    auto text = fmt::format("{} would change {} of {} entries\n", name_of(plan.action),
                            with_commas(plan.counts.allowed), with_commas(plan.counts.looked_at));
    for (auto const& group : plan.counts.groups) {
        text += fmt::format(
            "{:>9} {:<10} {}{}\n", with_commas(group.count), name_of(group.state),
            group.is_allowed ? "" : "not allowed: ", printable(without_prefix(group.text)));
    }
    if (plan.young) {
        text += fmt::format("{:>9} are left: they have moved too recently (--older-than), or wait "
                            "for a service\n",
                            with_commas(*plan.young));
    }
    return text;
}

std::string to_json_text(action_plan const& plan) {
    json shown{{"action", name_of(plan.action)},
               {"dry_run", true},
               {"matched", plan.counts.looked_at},
               {"allowed", plan.counts.allowed},
               {"would", json::array()}};
    for (auto const& group : plan.counts.groups) {
        shown["would"].push_back({{"state", name_of(group.state)},
                                  {"count", group.count},
                                  {"allowed", group.is_allowed},
                                  {"effect", without_prefix(group.text)}});
    }
    if (plan.young) shown["young"] = *plan.young;
    return dump(shown);
}

std::string forecast_text(std::string_view id, settle::action_forecast const& forecast) {
    return fmt::format("{}: {}{}\n", printable(id), forecast.is_allowed ? "" : "not allowed: ",
                       printable(without_prefix(forecast.text)));
}

std::string forecast_json(settle::operator_action action, std::string_view id,
                          settle::action_forecast const& forecast) {
    return dump({{"action", name_of(action)},
                 {"id", id},
                 {"dry_run", true},
                 {"allowed", forecast.is_allowed},
                 {"effect", without_prefix(forecast.text)}});
}

std::string to_text(action_report const& report) {
    std::string text = fmt::format("{}:", name_of(report.action));
    for (auto const& [verdict, count] : report.ended)
        text += fmt::format("{} {} {}", text.back() == ':' ? "" : ",", with_commas(count),
                            name_of(verdict));
    text += report.ended.empty() ? " nothing to change\n" : "\n";
    for (auto const& each : report.failures)
        text += fmt::format("  {}\n", printable(each.sentence));
    return text;
}

std::string to_json_text(action_report const& report) {
    json shown{
        {"action", name_of(report.action)}, {"ended", json::object()}, {"failures", json::array()}};
    for (auto const& [verdict, count] : report.ended) shown["ended"][name_of(verdict)] = count;
    for (auto const& each : report.failures)
        shown["failures"].push_back({{"id", each.id}, {"problem", each.sentence}});
    return dump(shown);
}

std::string to_json_text(settle::operator_action action, std::string_view id,
                         settle::outcome const& ended) {
    json shown{{"action", name_of(action)},
               {"id", id},
               {"verdict", name_of(ended.verdict)},
               {"text", ended.text()}};
    if (!ended.problem.empty()) shown["problem"] = sentence_of(ended.problem);
    return dump(shown);
}

std::string to_json_text(settle::recovery_report const& report, settle::sweep_report const& swept) {
    json shown{{"action", "recover"},
               {"done", report.done},
               {"canceled", report.canceled},
               {"undecided", report.undecided},
               {"elsewhere", report.elsewhere},
               {"young", report.young},
               {"skipped", skipped_rows(report.skipped)},
               {"marks", {{"undone", swept.undone}, {"skipped", skipped_rows(swept.skipped)}}}};
    if (!report.problem.empty()) shown["problem"] = sentence_of(report.problem);
    return dump(shown);
}

std::string pause_text(std::string_view action, settle::call_pause const& pause, bool changes) {
    return fmt::format("{} would change {} for the calls of the {} '{}'\n", action,
                       changes ? "something" : "nothing", name_of(pause.scope),
                       printable(pause.name));
}

std::string pause_json(std::string_view action, settle::call_pause const& pause, bool changes,
                       bool is_dry_run) {
    json shown{{"action", action}, {"scope", name_of(pause.scope)}, {"name", pause.name}};
    if (is_dry_run) shown["dry_run"] = true;
    shown[is_dry_run ? "would_change" : "changed"] = changes;
    return dump(shown);
}

void ask_person(action_plan const& plan) {
    auto const what = fmt::format("{} would change {} of {} entries", name_of(plan.action),
                                  plan.counts.allowed, plan.counts.looked_at);
    if (::isatty(STDIN_FILENO) == 0) {
        throw input_error(what + "; look at them with --dry-run, and give --yes to change them "
                                 "without a question");
    }
    flush_output();
    auto const question = to_text(plan) + "Change them? [y/N] ";
    static_cast<void>(std::fwrite(question.data(), 1, question.size(), stderr));
    char answer[16]{};
    {
        file_wait const waiting;
        if (std::fgets(answer, sizeof answer, stdin) == nullptr) answer[0] = 'n';
    }
    if (answer[0] != 'y' && answer[0] != 'Y')
        throw input_error("nothing was changed, since the answer was not yes");
}

} // namespace samples
