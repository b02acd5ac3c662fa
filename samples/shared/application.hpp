// SPDX-License-Identifier: BSL-1.0
// The commands that all samples share; the application supplies its special parts.
#pragma once

#include "books.hpp"
#include "entries.hpp"
#include "home.hpp"
#include "interrupt.hpp"
#include "opener.hpp"
#include "operator_commands.hpp"
#include "report.hpp"
#include "runner.hpp"
#include "serve.hpp"
#include "settings.hpp"
#include "text.hpp"

#include <settle/metrics.hpp>
#include <settle/settle.hpp>

#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace samples {

/// The commands of one application on one engine.
/// Shape:   Application offers
///          name, purpose, default_store - texts for people
///          piece, pieces - the name of a row or more, for reports
///          tables - the names of its collections, each a plural
///          reader - next(piece) returns requests and refusals; false at the end
///          add_options(line, open) - adds its options, of the program and of `open`
///          with_arguments(store, how, make) - returns make(arguments of the engine…)
///          open(opener, reader) - creates the first records
///          each_record(parameters, visit) - calls visit(collection, key) for each record
///          read_moves(entry, moves) - a done entry's money moves; false when unreadable
///          each_account(read, visit) - calls visit(collection, id, opened_with, now) for each;
///          read(collections…) returns a tuple of their records
///          in_words(participant, reason) - the application's words for a reason, or nothing
///          in_other_databases, check_others(engine) - only if it has participants beside its
///          store: what `check` prints on their data; false when it is wrong
///          prepared, visit_store(visit), locked_by(parameters), held_back() - only if a database
///          prepares its participants: their target; calls visit(store); the name of what a part
///          locks; what else holds work back, in lines
///          An application for the leftovers of MongoDB's tutorial offers name, tables,
///          with_arguments and each_account.
template <typename Application, typename Engine>
class commands : operator_commands<Application, Engine> {
    using base = operator_commands<Application, Engine>;

public:
    using base::base;

    exit_code call(std::string_view command) {
        if constexpr (has_reader<Application>) {
            if (command == "open") return open();
            if (command == "run") return run();
            if (command == "purge") return purge();
            if (command == "reverse") return reverse();
        }
        if (command == "recover") return recover();
        if (command == "work") return work();
        if (command == "list") return list();
        if (command == "show") return show();
        if (command == "cancel") return cancel();
        if (command == "balance") return balance();
        if (command == "check") return check();
        if (command == "stuck") return stuck();
        if (command == "resolve") return resolve();
        if (command == "pause" || command == "resume") return change_pause(command == "pause");
        if (command == "doubts") return doubts();
        if (command == "serve") return serve();
        // The engine of the earlier commands was built on a log that is at home.
        refuse(command == "home" ? "'home' is the first command, or the only one"
                                 : "with --layout tutorial there are recover, work, list, show, "
                                   "cancel, balance, check and home; for new work write a program "
                                   "with a type of your own");
        return exit_code::wrong_usage;
    }

private:
    using base::application_, base::engine_, base::given_, base::interrupted_;
    using base::cancel, base::change_pause, base::doubts, base::list, base::name, base::recover;
    using base::refuse, base::resolve, base::reverse, base::show, base::stuck, base::work;

    exit_code open() {
        typename Application::reader pieces{given_->file};
        opener<Engine> records{*engine_, interrupted_->token()};
        application_->open(records, pieces);
        print("{}", records.to_text());
        return records.ends_with();
    }

    exit_code run() {
        typename Application::reader pieces{given_->input};
        runner<Application, Engine> running{*application_, *engine_, *given_,
                                            interrupted_->token()};
        auto const result = running.run(pieces);
        auto code = worse(result.ends_with(), code_of(name(), [&] {
                              print("{}", to_text(result, Application::pieces));
                              flush_output();
                              return exit_code::settled;
                          }));
        if (!given_->report.empty()) {
            code = worse(code, code_of(name(), [&] {
                             write_report(result, given_->report);
                             return exit_code::settled;
                         }));
        }
        // A failure of the store, or of a check at the end, is told after what was done.
        if (running.failed()) std::rethrow_exception(running.failed());
        return code;
    }

    exit_code purge() {
        settle::purge_options options;
        options.older_than = given_->finished_for;
        options.stop = interrupted_->token();
        note_purge();
        auto const gone = engine_->purge(options);
        if (gone.problem.code == settle::errc::too_young) return refuse(sentence_of(gone.problem));
        print("purged: {} entries\n", with_commas(gone.erased));
        if (!gone.problem.empty()) throw settle::failure(gone.problem);
        return exit_code::settled;
    }

    /// Notes, before the first done entry is purged, that the log no longer explains the balances
    /// for `check`.
    void note_purge() {
        if (given_->finished_for <= engine_->limits().horizon()) return;
        auto done = engine_->still_for(given_->finished_for - std::chrono::minutes(1));
        done.state = settle::state::done;
        if (engine_->page(done, {}, 1).value().empty()) return;
        auto const made = engine_->create(notes, note{purge_note, "entries were purged"});
        bool const exists = made.has_value() || made.problem().code == settle::errc::record_exists;
        if (!exists) throw settle::failure(made.problem());
    }

    exit_code serve() {
        auto const said = [](std::string const& url) {
            print_line(fmt::format("the console is at {}; Ctrl-C ends it", url));
            flush_output();
        };
        if (serve_until_stopped(*engine_, given_->port, said, interrupted_->token()))
            return exit_code::settled;
        return refuse("this program was built without settle::console; configure it with "
                      "-DSETTLE_SAMPLES_SERVE=ON");
    }

    // ---------------------------------------------------------------------------------- the money

    static std::string amount_text(std::int64_t amount) {
        // The tutorial's amounts are whole numbers.
        return has_reader<Application> ? format_money(amount) : std::to_string(amount);
    }

    using named_amount = std::pair<std::string, std::int64_t>;

    /// The account that was asked for, or all.
    template <typename Read>
    std::vector<named_amount> balances(Read const& read) {
        auto const& account = given_->account;
        std::vector<named_amount> amounts;
        application_->each_account(read, [&](std::string_view collection, std::string const& id,
                                             std::int64_t, std::int64_t now) {
            if (!account.empty() && account != id) return;
            // Only an application with a second bank has two accounts of one id.
            amounts.emplace_back(prepares<Application> ? record_name(collection, id) : id, now);
        });
        return amounts;
    }

    /// The balances as decided transactions alone make them, of one moment; nothing if the store
    /// gives no such moment.
    std::optional<std::vector<named_amount>> committed_balances() {
        // The layout of the tutorial has marks without epochs.
        if constexpr (has_reader<Application>) {
            try {
                return balances([&](auto const&... asked) {
                    return engine_->read_together(settle::all_of(asked)...).value();
                });
            } catch (settle::failure const& refused) {
                if (refused.problem().code != settle::errc::unfit_store) throw;
            }
        }
        return std::nullopt;
    }

    exit_code balance() {
        auto const& account = given_->account;
        auto const committed = committed_balances();
        auto shown = committed ? *committed : balances(stored_in(*engine_));
        if (!account.empty() && shown.empty())
            return refuse(fmt::format("there is no account '{}'", account));
        if (account.empty()) {
            std::int64_t sum = 0;
            for (auto const& [id, amount] : shown) sum = add(sum, amount);
            shown.emplace_back("sum", sum);
        }
        if (!account.empty() && shown.size() == 1) {
            auto const amount = shown.front().second;
            print("{}\n", amount_text(amount));
            auto const stored = balances(stored_in(*engine_)).at(0).second;
            if (committed && stored != amount) {
                print("{} is stored; unfinished transactions hold the difference\n",
                      amount_text(stored));
            }
        } else {
            for (auto const& [id, amount] : shown)
                print("{:<20} {:>16}\n", printable(id), amount_text(amount));
        }
        if (!committed && has_reader<Application>)
            print_line("as stored: this store gives no committed balances of one moment");
        return exit_code::settled;
    }

    exit_code check() {
        auto const sums = sums_of(*application_, *engine_);
        auto const marks = engine_->marks().value();
        settle::entry_filter submitted;
        submitted.state = settle::state::initial;
        settle::entry_filter begun;
        begun.unfinished = true;
        std::uint64_t const submitted_count = show_unfinished(submitted, 0);
        std::uint64_t const begun_count = show_unfinished(begun, submitted_count);
        auto const unfinished = submitted_count + begun_count;
        bool well = marks == 0 && unfinished == 0;
        if constexpr (has_reader<Application>) {
            print_finding(sums.now == sums.opened, "money",
                          fmt::format("{}, opened with {}", format_money(sums.now),
                                      format_money(sums.opened)));
            well = check_accounts(marks + begun_count > 0) && sums.now == sums.opened && well;
        } else {
            print("    money       {}\n", sums.now);
        }
        print_finding(marks == 0, "marks", with_commas(marks) + " left");
        print_finding(unfinished == 0, "unfinished", with_commas(unfinished));
        if (unfinished > 0 || marks > 0) {
            print("'{} recover' settles transactions of ended programs, or says why not\n", name());
        }
        if constexpr (has_others<Application>) {
            well = application_->check_others(*engine_) && well;
        }
        return well ? exit_code::settled : exit_code::refused;
    }

    /// Shape:   shown - the number of lines already printed; at most five are printed
    std::uint64_t show_unfinished(settle::entry_filter const& filter, std::uint64_t shown) {
        std::uint64_t count = 0;
        for (settle::entry const& entry : engine_->list(filter)) {
            if (++count + shown <= 5) print("{}\n", list_line(entry));
        }
        return count;
    }

    /// Compares every account with the log. False where an account differs.
    bool check_accounts(bool under_way) {
        auto const read_moves = [&](auto const& entry, auto& moves) {
            return application_->read_moves(entry, moves);
        };
        auto const impossible = [](std::string const& why) {
            print_line("    accounts    not compared with the log: " + why);
            return true;
        };
        if (under_way) return impossible("something is unfinished");
        if (engine_->read(notes, purge_note).value()) return impossible("entries were purged");
        books by_log{*engine_, read_moves};
        if (!by_log.unread.empty()) {
            return impossible(
                fmt::format("the entry {} is of no type that this program knows", by_log.unread));
        }
        application_->each_account(stored_in(*engine_),
                                   [&](auto const&... account) { by_log.compare(account...); });
        by_log.finish();
        if (by_log.wrong == 0) {
            print_finding(true, "accounts", with_commas(by_log.accounts) + " agree with the log");
            return true;
        }
        if (books{*engine_, read_moves}.entries != by_log.entries) {
            return impossible("another program is at work");
        }
        print_finding(false, "accounts",
                      fmt::format("{} of {} differ from the log", with_commas(by_log.wrong),
                                  with_commas(by_log.accounts)));
        for (auto const& each : by_log.sentences) print_line("    " + each);
        return false;
    }
};

/// Calls the requested commands on one store.
template <typename Application, typename Store>
exit_code call_all(Application& application, Store& store, settings const& settings,
                   interrupt const& interrupted) {
    auto const how = settings.two_phases ? settle::phases::two : settle::phases::one;
    std::span<std::string const> rest{settings.commands};
    if (rest.front() == "home") {
        auto const code = answer_for_home(application, store, how, settings.was_copied);
        rest = rest.subspan(1);
        if (rest.empty()) return code;
    }
    auto const make_engine = [&] {
        try {
            return application.with_arguments(store, how, [](auto&&... arguments) {
                return settle::engine{std::forward<decltype(arguments)>(arguments)...,
                                      settle::observed_by(settle::metrics{})};
            });
        } catch (settle::failure const& refused) {
            if (refused.problem().code != settle::errc::other_home) throw;
            throw std::runtime_error(
                fmt::format("{0}. The commands are '{1} home moved' and '{1} home copied'",
                            sentence_of(refused.problem()), Application::name));
        }
    };
    auto engine = make_engine();
    commands<Application, decltype(engine)> callable{application, engine, settings, interrupted};
    auto code = exit_code::settled;
    bool failed = false;
    for (auto const& each : rest) {
        if (interrupted.requested() || failed) {
            complain(Application::name, fmt::format("{}, so {} was not begun",
                                                    failed ? "this failed" : "interrupted", each));
            code = worse(code, exit_code::unsettled);
            continue;
        }
        failed = true;
        code = worse(code, code_of(Application::name, [&] {
                         auto const ended = callable.call(each);
                         flush_output();
                         failed = false;
                         return ended;
                     }));
    }
    return code;
}

} // namespace samples
