// SPDX-License-Identifier: BSL-1.0
// The commands with which an operator looks at transactions and acts on them.
#pragma once

#include "actions.hpp"
#include "books.hpp"
#include "doubts.hpp"
#include "entries.hpp"
#include "interrupt.hpp"
#include "runner.hpp"
#include "settings.hpp"
#include "text.hpp"

#include <settle/settle.hpp>

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace samples {

/// True for an application whose transactions have participants beside its store.
template <typename Application>
concept has_others = requires { Application::in_other_databases; };

/// True for an application whose transactions have prepared participants.
template <typename Application>
concept prepares = requires { Application::prepared; };

/// True for an application that runs new work, not only the leftovers of MongoDB's tutorial.
template <typename Application>
concept has_reader = requires { typename Application::reader; };

/// The commands of an operator.
/// Shape:   as commands
template <typename Application, typename Engine>
class operator_commands {
public:
    operator_commands(Application& application, Engine& engine, settings const& settings,
                      interrupt const& interrupted)
        : application_(&application), engine_(&engine), given_(&settings),
          interrupted_(&interrupted) {}

protected:
    using operator_action = settle::operator_action;

    exit_code recover() {
        auto const& asked = given_->recover;
        bool const is_of_choice = !asked.id.empty() || asked.has_filter() || asked.is_for_all;
        if (is_of_choice) return act(operator_action::recover, asked);
        settle::recover_options options;
        if (asked.older_than) options.older_than = *asked.older_than;
        options.stop = interrupted_->token();
        if (asked.is_dry_run) return show_plan(plan_of_recovery(options), asked);
        auto const recovered = engine_->recover(options);
        if (!asked.is_json) print_report("recovered", recovered);
        bool const ended_early = !recovered.problem.empty() && recovered.undecided == 0;
        settle::sweep_report swept;
        if (!ended_early) swept = engine_->sweep(interrupted_->token());
        if (asked.is_json) {
            print("{}", to_json_text(recovered, swept));
            if (ended_early) throw settle::failure(recovered.problem);
        } else {
            if (swept.undone > 0 || !swept.skipped.empty()) {
                print("swept: {} stray marks undone, {} left alone\n", with_commas(swept.undone),
                      swept.skipped.size());
            }
            print_skipped(swept.skipped);
        }
        if (!swept.problem.empty()) throw settle::failure(swept.problem);
        return end_of(recovered.undecided == 0 && recovered.skipped.empty() &&
                      swept.skipped.empty());
    }

    exit_code cancel() { return act(operator_action::cancel, given_->cancel); }
    exit_code reverse() { return act(operator_action::reverse, given_->reverse); }
    exit_code resolve() { return act(operator_action::resolve, given_->resolve); }

    exit_code work() {
        settle::work_options options;
        options.stop = interrupted_->token();
        auto const found = engine_->work(options);
        print_report("worked", found);
        return end_of(found.undecided == 0 && found.skipped.empty());
    }

    exit_code list() {
        std::uint64_t count = 0;
        bool const is_json = given_->list.is_json;
        if (!is_json) print("{}\n", list_head());
        for (settle::entry const& entry : engine_->list(filter_of(given_->list))) {
            if (interrupted_->requested()) break;
            if (!matches(given_->list, entry)) continue;
            auto const* const before = count == 0 ? "[" : ",\n ";
            if (is_json) print("{}{}", before, to_json_text(entry));
            else print("{}\n", list_line(entry));
            ++count;
        }
        if (is_json) print("{}]\n", count == 0 ? "[" : "");
        else print("{} entries\n", with_commas(count));
        return end_of(true);
    }

    exit_code show() {
        auto const entry = engine_->find(given_->show_id).value();
        if (!entry) return refuse(no_such(given_->show_id));
        if (given_->show_json) print("{}\n", to_json_text(*entry, 2));
        else print("{}", to_text(*entry));
        return exit_code::settled;
    }

    exit_code stuck() {
        auto const& age = given_->stuck.older_than;
        auto const stuck = (age ? engine_->stuck(*age) : engine_->stuck()).value();
        auto const pauses = engine_->paused_calls().value();
        if (given_->stuck.is_json) {
            print("{}\n", to_json_text(stuck, pauses));
            return exit_code::settled;
        }
        print("{}\n", list_head());
        for (settle::entry const& entry : stuck) print("{}\n", list_line(entry));
        print("{} entries\n", with_commas(stuck.size()));
        for (settle::call_pause const& pause : pauses) {
            print("the calls of the {} '{}' are paused: {}\n", name_of(pause.scope),
                  printable(pause.name), printable(pause.why));
        }
        return exit_code::settled;
    }

    exit_code change_pause(bool pauses) {
        auto const& asked = given_->pause;
        auto const* const action = pauses ? "pause" : "resume";
        settle::call_pause const pause{given_->scope, given_->scope_name, given_->why, {}};
        auto const& [scope, name, why, since] = pause;
        if (asked.is_dry_run) {
            bool would_change = pauses;
            for (settle::call_pause const& held : engine_->paused_calls().value()) {
                if (held.scope == scope && held.name == name)
                    would_change = !pauses || held.why != why;
            }
            print("{}", asked.is_json ? pause_json(action, pause, would_change, true)
                                      : pause_text(action, pause, would_change));
            return exit_code::settled;
        }
        auto const changed =
            pauses ? engine_->pause_calls(scope, name, why) : engine_->resume_calls(scope, name);
        if (!changed.has_value()) return refuse(sentence_of(changed.problem()));
        if (asked.is_json) print("{}", pause_json(action, pause, changed.value(), false));
        if (changed.value() || pauses) return exit_code::settled;
        return refuse(fmt::format("no calls of the {} '{}' are paused", name_of(scope), name));
    }

    exit_code doubts() {
        if constexpr (prepares<Application>) {
            auto const parts = engine_->in_doubt(Application::prepared).value();
            print("{}{}", doubts_text(parts, name()), application_->held_back());
        }
        print("{}", early_marks_text(engine_->marks_without_entry().value(), name()));
        return exit_code::settled;
    }

    [[nodiscard]] exit_code end_of(bool settled) const {
        return settled && !interrupted_->requested() ? exit_code::settled : exit_code::unsettled;
    }

    static std::string_view name() { return Application::name; }

    exit_code refuse(std::string_view sentence) {
        complain(name(), sentence);
        return exit_code::refused;
    }

    Application* application_;
    Engine* engine_;
    settings const* given_;
    interrupt const* interrupted_;

private:
    /// Takes an action on one transaction, or on those of a choice.
    exit_code act(operator_action action, chosen_action const& asked) {
        if (asked.id.empty()) return act_on_all(action, asked);
        if (asked.is_dry_run) return foretell(action, asked);
        auto const ended = take(action, asked.id);
        if (asked.is_json) print("{}", to_json_text(action, asked.id, ended));
        auto const sentence = sentence_for(action, asked.id, ended);
        auto const code = exit_code_of(action, ended);
        if (code != exit_code::settled) refuse(sentence);
        else if (!asked.is_json) print_line(sentence);
        return code;
    }

    exit_code foretell(operator_action action, chosen_action const& asked) {
        auto const stored = engine_->find(asked.id).value();
        bool const is_new = action == operator_action::cancel && given_->even_if_unknown;
        if (!stored && !is_new) return refuse(no_such(asked.id));
        auto const forecast =
            stored ? engine_->forecast(action, *stored)
                   : settle::action_forecast{true, "It is canceled in advance, and never runs."};
        print("{}", asked.is_json ? forecast_json(action, asked.id, forecast)
                                  : forecast_text(asked.id, forecast));
        return exit_code::settled;
    }

    exit_code act_on_all(operator_action action, chosen_action const& asked) {
        action_plan plan{action};
        for (settle::entry const& entry : engine_->list(filter_of(asked))) {
            if (interrupted_->requested()) return end_of(false);
            if (!matches(asked, entry)) continue;
            auto const forecast = engine_->forecast(action, entry);
            plan.counts.add(entry, forecast);
            if (forecast.is_allowed) plan.ids.push_back(entry.id);
        }
        if (asked.is_dry_run) return show_plan(plan, asked);
        bool const changes_many = plan.counts.looked_at > 1 && !plan.ids.empty();
        if (changes_many && !asked.is_agreed) ask_person(plan);
        action_report report{action};
        for (settle::transaction_id const& id : plan.ids) {
            if (interrupted_->requested()) break;
            report.add(take(action, id));
        }
        print("{}", asked.is_json ? to_json_text(report) : to_text(report));
        return worse(report.code, end_of(true));
    }

    exit_code show_plan(action_plan const& plan, chosen_action const& asked) const {
        print("{}", asked.is_json ? to_json_text(plan) : to_text(plan));
        return end_of(true);
    }

    /// What recover() would claim; it also undoes stray marks, which are not counted.
    action_plan plan_of_recovery(settle::recover_options const& options) {
        action_plan plan{operator_action::recover};
        plan.young = 0;
        settle::entry_filter begun;
        begun.unfinished = true;
        for (settle::entry const& entry : engine_->list(begun)) {
            if (interrupted_->requested()) break;
            if (!engine_->is_due(entry, options)) ++*plan.young;
            else plan.counts.add(entry, engine_->forecast(operator_action::recover, entry));
        }
        return plan;
    }

    settle::outcome take(operator_action action, settle::transaction_id const& id) {
        settle::call_options const call{std::nullopt, interrupted_->token()};
        switch (action) {
        case operator_action::recover: return engine_->retry(id, call);
        case operator_action::reverse: return engine_->reverse(id, call);
        case operator_action::resolve:
            return engine_->resolve(id, given_->participant, given_->why, given_->resolving);
        case operator_action::cancel: break;
        }
        settle::cancel_options options;
        options.even_if_unknown = given_->even_if_unknown;
        options.stop = interrupted_->token();
        return engine_->cancel(id, options);
    }

    /// The outcome of an action, for a person.
    std::string sentence_for(operator_action action, std::string const& id,
                             settle::outcome const& ended) {
        bool const is_unknown = ended.problem.code == settle::errc::unknown_id;
        if (is_unknown && action == operator_action::cancel) {
            return fmt::format("there is no transaction '{}'; with --even-if-unknown it is "
                               "canceled in advance",
                               id);
        }
        if (is_unknown) return no_such(id);
        if (action == operator_action::cancel && ended.done()) {
            auto const undoes = has_others<Application>
                                    ? std::string{}
                                    : fmt::format("; '{} reverse {}' undoes it", name(), id);
            return fmt::format("{} is done, too late to cancel it{}", id, undoes);
        }
        if (action == operator_action::reverse && ended.done())
            return fmt::format("{} is reversed by {}", id, ended.id);
        if constexpr (has_reader<Application>) {
            if (action == operator_action::reverse && ended.canceled()) {
                return fmt::format("{} is not reversed: {}{}", id,
                                   words_for(*application_, ended.participant, ended.why),
                                   cause_of(ended.problem));
            }
        }
        if (ended.done() || ended.canceled())
            return fmt::format("{} is {}", id, name_of(ended.verdict));
        auto const sentence = sentence_of(ended.problem);
        if (ended.verdict == settle::verdict::refused) return sentence;
        bool const lasts = ended.problem.code == settle::condition::permanent;
        return fmt::format("{} is undecided: {}{}", ended.id, sentence,
                           lasts ? "" : "; give the same command again");
    }

    static std::string no_such(std::string_view id) {
        return fmt::format("there is no transaction '{}'; '{} list' shows those of the log", id,
                           name());
    }

    [[nodiscard]] settle::entry_filter filter_of(entry_choice const& choice) const {
        settle::entry_filter filter;
        if (choice.older_than && choice.older_than->count() > 0)
            filter = engine_->still_for(*choice.older_than);
        filter.state = choice.state;
        return filter;
    }

    /// What the log's own filter does not know.
    [[nodiscard]] bool matches(entry_choice const& choice, settle::entry const& stored) const {
        return (choice.type.empty() || stored.type == choice.type) &&
               stored.id.starts_with(choice.id_prefix) &&
               (choice.reason.empty() || name_of(stored.why) == choice.reason) &&
               (choice.participant.empty() || stored.participant == choice.participant) &&
               (choice.record.empty() || has_part_on(choice.record, stored));
    }

    [[nodiscard]] bool has_part_on(std::string_view record, settle::entry const& stored) const {
        bool is_there = false;
        if constexpr (has_reader<Application>) {
            auto const compare = [&](auto const& collection, std::string const& key) {
                is_there = is_there || record_name(collection.name, key) == record;
            };
            application_->each_type([&]<typename Type>(Type const& type) {
                read_parameters<typename Type::parameters_type>(
                    stored, type.name, [&](auto const& parameters, std::int64_t) {
                        application_->each_record(parameters, compare);
                    });
            });
        }
        return is_there;
    }

    /// Prints the outcomes of entries.
    /// Errors:  throws the problem that stopped the call early
    static void print_report(std::string_view did, settle::recovery_report const& report) {
        print("{}: {} done, {} canceled, {} undecided, {} left alone\n", did, report.done,
              report.canceled, report.undecided, report.skipped.size());
        if (report.undecided > 0) print_line("  undecided: " + sentence_of(report.problem));
        if (report.elsewhere > 0) {
            print("  {} are under way in another program\n", with_commas(report.elsewhere));
        }
        if (report.young > 0) {
            print("  {} have not stood still for that long (--older-than), or wait for a service\n",
                  with_commas(report.young));
        }
        print_skipped(report.skipped);
        bool const is_reported = report.problem.empty() || report.undecided > 0;
        if (!is_reported) throw settle::failure(report.problem);
    }

    static void print_skipped(std::vector<settle::skipped_entry> const& skipped) {
        for (auto const& [id, problem] : skipped) {
            print_line(fmt::format("  {}: {}", id, sentence_of(problem)));
        }
    }
};

} // namespace samples
