// SPDX-License-Identifier: BSL-1.0
// The commands that all samples share; the application supplies its special parts.
#pragma once

#include "books.hpp"
#include "complain.hpp"
#include "doubts.hpp"
#include "entries.hpp"
#include "exit_code.hpp"
#include "home.hpp"
#include "interrupt.hpp"
#include "money.hpp"
#include "opener.hpp"
#include "output.hpp"
#include "purge_note.hpp"
#include "report.hpp"
#include "runner.hpp"
#include "sentence.hpp"
#include "settings.hpp"

#include <settle/settle.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace samples {

/// True for an application whose transactions have participants beside its store.
template <typename Application>
concept has_others = requires(Application& application) { application.options(); };

/// True for an application whose transactions have prepared participants.
template <typename Application>
concept prepares = requires { Application::prepared; };

/// The commands of one application on one engine.
/// Shape:   Application offers
///          name, purpose, pieces, default_store - texts for people
///          tables - the names of its collections
///          reader - returns pieces: requests, refusals and remarks
///          open_options() - the options of `open` besides the file
///          with_arguments(store, how, make) - returns make(arguments of the engine…)
///          open(opener, file) - creates the first records
///          held_back() - with `doubts` only: what else holds work back, in lines; may be empty
///          each_record(parameters, visit) - calls visit(collection, key) for each record
///          not_open(request, collection's name, key) - the refusal for a missing record
///          read_moves(entry, moves) - a done entry's money moves; false when unreadable
///          each_account(engine, visit) - calls visit(collection, id, opened_with, now) for each
///          sums(engine), show_balances(engine, account) - for `check` and `balance`
///          in_words(participant, reason) - the application's words for a reason, or nothing
///          options(), check_others(engine) - only if it has participants beside its store: the
///          options of the program, and what `check` prints on their data; false when it is wrong
///          prepared, visit_store(visit), locked_by(parameters) - only if a database prepares its
///          participants: their target; calls visit(store); the name of what a part locks
///          An application for the leftovers of MongoDB's tutorial has no reader, and no commands
///          that begin a transaction.
template <typename Application, typename Engine>
class commands {
public:
    commands(Application& application, Engine& engine, settings const& given,
             interrupt const& interrupted)
        : application_(&application), engine_(&engine), given_(&given), interrupted_(&interrupted) {
    }

    exit_code call(command which) {
        if constexpr (requires { typename Application::reader; }) {
            switch (which) {
            case command::open: return open();
            case command::run: return run();
            case command::purge: return purge();
            case command::reverse: return reverse();
            default: break;
            }
        }
        switch (which) {
        case command::recover: return recover();
        case command::work: return work();
        case command::list: return list();
        case command::show: return show();
        case command::cancel: return cancel();
        case command::balance: return application_->show_balances(*engine_, given_->account);
        case command::check: return check();
        case command::stuck: return stuck();
        case command::resolve: return resolve();
        case command::doubts: return doubts();
        case command::home: return home_comes_first();
        default: break;
        }
        samples::complain(
            Application::name,
            "with --layout tutorial there are recover, work, list, show, cancel, "
            "balance, check and home; for new work write a program with a type of your "
            "own");
        return exit_code::wrong_usage;
    }

private:
    exit_code open() {
        opener<Engine> records{*engine_, interrupted_->token()};
        application_->open(records, given_->file);
        fmt::print("{}", records.to_text());
        return records.ends_with();
    }

    exit_code run() {
        typename Application::reader pieces{given_->input};
        runner<Application, Engine> running{*application_, *engine_, given_->pace,
                                            interrupted_->token()};
        auto const result = running.run(pieces);
        // The orders' outcomes are reported even if the report file cannot be written.
        auto code = code_of(Application::name, [&] {
            fmt::print("{}", to_text(result, Application::pieces));
            std::fflush(stdout);
            return result.ends_with();
        });
        if (!given_->report.empty()) {
            code = worse(code, code_of(Application::name, [&] {
                             write_report(result, given_->report);
                             return result.ends_with();
                         }));
        }
        // A failure of the store, or of a check at the end, is told after what was done.
        if (running.failed()) std::rethrow_exception(running.failed());
        return code;
    }

    exit_code recover() {
        settle::recover_options options;
        options.older_than = given_->standing_for;
        options.stop = interrupted_->token();
        auto const found = engine_->recover(options);
        print_report("recovered", found);
        auto const swept = engine_->sweep(interrupted_->token());
        if (swept.undone > 0 || !swept.skipped.empty()) {
            fmt::print("swept: {} stray marks undone, {} left alone\n", with_commas(swept.undone),
                       swept.skipped.size());
        }
        print_skipped(swept.skipped);
        if (!swept.problem.empty()) throw settle::failure(swept.problem);
        return end_of(found.undecided == 0 && found.skipped.empty() && swept.skipped.empty());
    }

    exit_code work() {
        settle::work_options options;
        options.stop = interrupted_->token();
        auto const found = engine_->work(options);
        print_report("worked", found);
        return end_of(found.undecided == 0 && found.skipped.empty());
    }

    /// Prints the outcomes of entries.
    /// Errors:  throws the problem that stopped the call early
    static void print_report(std::string_view did, settle::recovery_report const& found) {
        fmt::print("{}: {} done, {} canceled, {} undecided, {} left alone\n", did, found.done,
                   found.canceled, found.undecided, found.skipped.size());
        if (found.undecided > 0) fmt::print("  undecided: {}\n", sentence_of(found.problem));
        if (found.elsewhere > 0) {
            fmt::print("  {} are under way in another program\n", with_commas(found.elsewhere));
        }
        if (found.young > 0) {
            fmt::print("  {} have not stood still for that long (--older-than)\n",
                       with_commas(found.young));
        }
        print_skipped(found.skipped);
        bool const is_reported = found.problem.empty() || found.undecided > 0;
        if (!is_reported) throw settle::failure(found.problem);
    }

    [[nodiscard]] exit_code end_of(bool settled) const {
        return settled && !interrupted_->requested() ? exit_code::settled : exit_code::unsettled;
    }

    static void print_skipped(std::vector<settle::skipped_entry> const& all) {
        for (auto const& [id, problem] : all) {
            print_line(fmt::format("  {}: {}", id, sentence_of(problem)));
        }
    }

    exit_code purge() {
        settle::purge_options options;
        options.older_than = given_->finished_for;
        options.stop = interrupted_->token();
        note_purge(options.older_than);
        auto const gone = engine_->purge(options);
        if (gone.problem.code == settle::errc::too_young) {
            return complain(sentence_of(gone.problem));
        }
        fmt::print("purged: {} entries\n", with_commas(gone.erased));
        if (!gone.problem.empty()) throw settle::failure(gone.problem);
        return exit_code::settled;
    }

    /// Notes, before the first done entry is purged, that the log no longer explains the balances
    /// for `check`.
    void note_purge(std::chrono::milliseconds older_than) {
        if (older_than <= engine_->limits().horizon()) return;
        auto done = engine_->still_for(older_than - std::chrono::minutes(1));
        done.state = settle::state::done;
        if (!engine_->page(done, {}, 1).value().empty()) {
            auto const made = engine_->create(notes, note{purge_note, "entries were purged"});
            bool const exists =
                made.has_value() || made.problem().code == settle::errc::record_exists;
            if (!exists) throw settle::failure(made.problem());
        }
    }

    exit_code list() {
        std::uint64_t count = 0;
        settle::entry_filter filter;
        if (given_->older_than.count() > 0) filter = engine_->still_for(given_->older_than);
        filter.state = given_->state;
        if (!given_->list_json) fmt::print("{}\n", list_head());
        for (settle::entry const& entry : engine_->list(filter)) {
            if (interrupted_->requested()) break;
            auto const* const before = count == 0 ? "[" : ",\n ";
            if (given_->list_json) fmt::print("{}{}", before, to_json_text(entry));
            else fmt::print("{}\n", list_line(entry));
            ++count;
        }
        if (given_->list_json) fmt::print("{}]\n", count == 0 ? "[" : "");
        else fmt::print("{} entries\n", with_commas(count));
        return interrupted_->requested() ? exit_code::unsettled : exit_code::settled;
    }

    exit_code show() {
        auto const found = engine_->find(given_->show_id).value();
        if (!found) return complain(fmt::format("there is no transaction '{}'", given_->show_id));
        if (given_->show_json) fmt::print("{}\n", to_json_text(*found, 2));
        else fmt::print("{}", to_text(*found));
        return exit_code::settled;
    }

    exit_code cancel() {
        settle::cancel_options options;
        options.even_if_unknown = given_->even_if_unknown;
        options.stop = interrupted_->token();
        auto const result = engine_->cancel(given_->cancel_id, options);
        if (result.verdict == settle::verdict::canceled) {
            print_line(fmt::format("{} is canceled", given_->cancel_id));
            return exit_code::settled;
        }
        if (result.verdict == settle::verdict::done) {
            if constexpr (has_others<Application>) {
                return complain(
                    fmt::format("{} is done, too late to cancel it", given_->cancel_id));
            }
            return complain(fmt::format("{} is done, too late to cancel it; '{} reverse {}' "
                                        "undoes it",
                                        given_->cancel_id, Application::name, given_->cancel_id));
        }
        if (result.problem.code == settle::errc::unknown_id) {
            return complain(fmt::format("there is no transaction '{}'; with --even-if-unknown it "
                                        "is canceled in advance",
                                        given_->cancel_id));
        }
        return unsettled(result);
    }

    exit_code reverse() {
        auto const result = engine_->reverse(given_->reverse_id);
        if (result.verdict == settle::verdict::done) {
            print_line(fmt::format("{} is reversed by {}", given_->reverse_id, result.id));
            return exit_code::settled;
        }
        if (result.verdict == settle::verdict::canceled) {
            return complain(fmt::format("{} is not reversed: {}{}", given_->reverse_id,
                                        words_for(*application_, result.participant, result.why),
                                        cause_of(result.problem)));
        }
        return unsettled(result);
    }

    exit_code stuck() {
        auto const& age = given_->stuck_for;
        auto const found = (age ? engine_->stuck(*age) : engine_->stuck()).value();
        fmt::print("{}\n", list_head());
        for (settle::entry const& entry : found) fmt::print("{}\n", list_line(entry));
        fmt::print("{} entries\n", with_commas(found.size()));
        return exit_code::settled;
    }

    exit_code doubts() {
        if constexpr (prepares<Application>) {
            auto found = engine_->in_doubt(Application::prepared).value();
            fmt::print("{}", doubts_text(std::move(found), Application::name));
            fmt::print("{}", application_->held_back());
        }
        return exit_code::settled;
    }

    /// The engine of the earlier commands was built on a log that is at home.
    exit_code home_comes_first() {
        samples::complain(Application::name, "'home' is the first command, or the only one");
        return exit_code::wrong_usage;
    }

    exit_code resolve() {
        auto const result = engine_->resolve(given_->resolve_id, given_->participant, given_->why,
                                             given_->resolving);
        if (result.verdict == settle::verdict::refused) {
            return complain(sentence_of(result.problem));
        }
        if (!result.done() && !result.canceled()) return unsettled(result);
        print_line(
            fmt::format("{} is {}", given_->resolve_id, result.done() ? "done" : "canceled"));
        return exit_code::settled;
    }

    /// Reports an outcome that is neither done nor canceled.
    exit_code unsettled(settle::outcome const& result) {
        auto const sentence = sentence_of(result.problem);
        if (result.verdict == settle::verdict::refused) return complain(sentence);
        bool const lasts = result.problem.code == settle::condition::permanent;
        samples::complain(Application::name,
                          fmt::format("{} is undecided: {}{}", result.id, sentence,
                                      lasts ? "" : "; give the same command again"));
        return exit_code::unsettled;
    }

    exit_code check() {
        auto const sums = application_->sums(*engine_);
        auto const marks = engine_->marks().value();
        settle::entry_filter submitted;
        submitted.state = settle::state::initial;
        settle::entry_filter begun;
        begun.unfinished = true;
        std::uint64_t unfinished = show_unfinished(submitted, 0);
        std::uint64_t const begun_count = show_unfinished(begun, unfinished);
        unfinished += begun_count;
        bool const unchanged = !sums.opened || sums.now == *sums.opened;
        if (sums.opened) {
            fmt::print("{} money       {}, opened with {}\n", unchanged ? "ok " : "BAD",
                       format_money(sums.now), format_money(*sums.opened));
        } else {
            fmt::print("    money       {}\n", sums.now);
        }
        bool const balanced = !sums.opened || check_accounts(marks + begun_count > 0);
        fmt::print("{} marks       {} left\n", marks == 0 ? "ok " : "BAD", with_commas(marks));
        fmt::print("{} unfinished  {}\n", unfinished == 0 ? "ok " : "BAD", with_commas(unfinished));
        if (unfinished > 0 || marks > 0) {
            fmt::print("'{} recover' settles transactions of ended programs, or says why not\n",
                       Application::name);
        }
        bool well = unchanged && balanced && marks == 0 && unfinished == 0;
        if constexpr (has_others<Application>) {
            well = application_->check_others(*engine_) && well;
        }
        return well ? exit_code::settled : exit_code::refused;
    }

    /// Shape:   shown - the number of lines already printed; at most five are printed
    std::uint64_t show_unfinished(settle::entry_filter const& filter, std::uint64_t shown) {
        std::uint64_t count = 0;
        for (settle::entry const& entry : engine_->list(filter)) {
            if (++count + shown <= 5) fmt::print("{}\n", list_line(entry));
        }
        return count;
    }

    /// Compares every account with the log. False where an account differs.
    bool check_accounts(bool under_way) {
        auto const found = compare_accounts(under_way);
        if (!found.impossible.empty()) {
            print_line(
                fmt::format("    accounts    not compared with the log: {}", found.impossible));
            return true;
        }
        if (found.wrong == 0) {
            fmt::print("ok  accounts    {} agree with the log\n", with_commas(found.accounts));
            return true;
        }
        fmt::print("BAD accounts    {} of {} differ from the log\n", with_commas(found.wrong),
                   with_commas(found.accounts));
        for (auto const& each : found.sentences) print_line("    " + each);
        return false;
    }

    book_findings compare_accounts(bool under_way) {
        book_findings found;
        if constexpr (requires { typename Application::reader; }) {
            if (under_way) {
                found.impossible = "something is unfinished";
                return found;
            }
            if (engine_->read(notes, purge_note).value()) {
                found.impossible = "entries were purged";
                return found;
            }
            books<Application> by_log{*engine_};
            found =
                by_log.compare([&](auto&& visit) { application_->each_account(*engine_, visit); });
            bool const went_on =
                found.wrong > 0 && books<Application>{*engine_}.entries() != by_log.entries();
            if (went_on) found.impossible = "another program is at work";
        }
        return found;
    }

    exit_code complain(std::string const& sentence) {
        samples::complain(Application::name, sentence);
        return exit_code::refused;
    }

    Application* application_;
    Engine* engine_;
    settings const* given_;
    interrupt const* interrupted_;
};

/// Calls the requested commands on one store.
template <typename Application, typename Store>
exit_code call_all(Application& application, Store& store, settings const& given,
                   interrupt const& interrupted) {
    auto const how = given.two_phases ? settle::phases::two : settle::phases::one;
    std::span<command const> rest{given.commands};
    auto code = exit_code::settled;
    if (rest.front() == command::home) {
        code = answer_for_home(application, store, how, given.home);
        rest = rest.subspan(1);
        if (rest.empty()) return code;
    }
    auto engine = engine_at_home(application, store, how);
    commands<Application, decltype(engine)> all{application, engine, given, interrupted};
    bool failed = false;
    for (auto const each : rest) {
        if (interrupted.requested() || failed) {
            complain(Application::name,
                     fmt::format("{}, so {} was not begun", failed ? "this failed" : "interrupted",
                                 name_of(each)));
            code = worse(code, exit_code::unsettled);
            continue;
        }
        failed = true;
        code = worse(code, code_of(Application::name, [&] {
                         auto const ended = all.call(each);
                         failed = false;
                         return ended;
                     }));
    }
    return code;
}

} // namespace samples
