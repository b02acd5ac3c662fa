// SPDX-License-Identifier: BSL-1.0
// Reads a sample's command line with CLI11.
#include "settings.hpp"

#include "complain.hpp"
#include "input_error.hpp"
#include "money.hpp"
#include "printable.hpp"
#include "report.hpp"

#include <settle/version.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace samples {

namespace {

/// In CLI11, an argument after `--` ends all options and commands. This prefix hides such an
/// argument from CLI11, and plain() removes it.
constexpr char literal = '\x01';

/// Removes the prefix.
std::string plain(std::string const& text) {
    return text.starts_with(literal) ? text.substr(1) : text;
}

/// Makes an option that takes its text without the prefix.
template <typename Take>
CLI::Option* add_plain_option(CLI::App& line, std::string const& name, Take take,
                              std::string const& purpose) {
    auto const plainly = [take = std::move(take)](std::string const& text) { take(plain(text)); };
    return line.add_option_function<std::string>(name, plainly, purpose);
}

/// Makes an option that takes an amount of money, not below zero.
CLI::Option* add_money(CLI::App& line, std::string const& name, std::int64_t& target,
                       std::string const& purpose) {
    auto const take = [name, &target](std::string const& text) {
        try {
            target = parse_money("amount", text);
        } catch (input_error const& error) {
            throw CLI::ValidationError(name, error.what());
        }
        if (target < 0) throw CLI::ValidationError(name, "the amount is below zero");
    };
    return add_plain_option(line, name, take, purpose)->type_name("MONEY");
}

/// The error of an invalid count; CLI11 would name a range that it cannot represent.
CLI::ValidationError no_count(std::string const& name, std::string const& text, std::int64_t least,
                              std::int64_t most) {
    bool const any = most == std::numeric_limits<std::int64_t>::max();
    auto const end = any ? "2^63 - 1" : with_commas(static_cast<std::uint64_t>(most));
    return CLI::ValidationError(
        name, fmt::format("'{}' is not a whole number from {} to {}", text, least, end));
}

/// Makes an option that takes an integer in a range.
template <typename Number>
CLI::Option* add_count(CLI::App& line, std::string const& name, Number& target, std::int64_t least,
                       std::int64_t most, std::string const& purpose) {
    auto const take = [name, least, most, &target](std::string const& text) {
        std::int64_t count = 0;
        try {
            count = parse_whole("number", text);
        } catch (input_error const&) {
            throw no_count(name, text, least, most);
        }
        if (count < least || count > most) throw no_count(name, text, least, most);
        target = static_cast<Number>(count);
    };
    return add_plain_option(line, name, take, purpose)->type_name("COUNT");
}

void add_open_option(CLI::App& open, open_option const& given) {
    if (given.type == open_option::kind::money) {
        add_money(open, given.name, *given.target, given.purpose)->required();
    } else {
        add_count(open, given.name, *given.target, 0, std::numeric_limits<std::int64_t>::max(),
                  given.purpose)
            ->required();
    }
}

/// Makes an option that takes a name from a list.
/// Shape:   values - for each name its value
template <typename Value, typename Target>
CLI::Option* add_choice(CLI::App& line, std::string const& name, Target& target,
                        std::vector<std::pair<std::string, Value>> values,
                        std::string const& purpose) {
    std::vector<std::string> names;
    for (auto const& each : values) names.push_back(each.first);
    auto const choices = fmt::format("{}", fmt::join(names, "|"));
    auto const take = [name, choices, values = std::move(values),
                       &target](std::string const& text) {
        for (auto const& [known, value] : values) {
            if (known != text) continue;
            target = value;
            return;
        }
        throw CLI::ValidationError(name, fmt::format("'{}' is none of {}", text, choices));
    };
    return add_plain_option(line, name, take, purpose)->type_name(choices);
}

/// `--state`, with the names that `list` prints.
void add_state(CLI::App& line, std::optional<settle::state>& target) {
    using settle::state;
    std::vector<std::pair<std::string, state>> values;
    for (auto const each : settle::all_states) {
        values.emplace_back(name_of(each), each);
    }
    add_choice(line, "--state", target, std::move(values), "Only entries in this state");
}

/// Reads a duration such as `30m`; a bare number is seconds.
std::optional<std::chrono::seconds> parse_age(std::string_view text) {
    constexpr std::int64_t ten_years = std::int64_t{86400} * 3653;
    constexpr std::string_view units = "smhd";
    constexpr std::array<std::int64_t, 4> seconds{1, 60, 3600, 86400};
    std::size_t unit = 0;
    if (!text.empty()) {
        auto const found = units.find(text.back());
        if (found != std::string_view::npos) {
            unit = found;
            text.remove_suffix(1);
        }
    }
    if (text.find_first_not_of("0123456789") != std::string_view::npos) return std::nullopt;
    try {
        auto const count = parse_whole("time", text);
        if (count > ten_years / seconds.at(unit)) return std::nullopt;
        return std::chrono::seconds(count * seconds.at(unit));
    } catch (input_error const&) {
        return std::nullopt;
    }
}

/// An option such as `--older-than 30m`.
/// Shape:   Target - a number of seconds, or an optional one
template <typename Target>
void add_age(CLI::App& line, Target& target, std::string const& purpose) {
    auto const take = [&target](std::string const& text) {
        auto const age = parse_age(text);
        if (!age) {
            throw CLI::ValidationError(
                "--older-than", fmt::format("'{}' is no time such as 90s, 30m, 2h or 1d, of ten "
                                            "years at most",
                                            text));
        }
        target = *age;
    };
    add_plain_option(line, "--older-than", take, purpose)->type_name("30s|30m|2h|1d");
}

/// The arguments of a command line in CLI11's order: last to first.
std::vector<std::string> arguments_of(int argc, char** argv) {
    std::vector<std::string> arguments;
    for (int at = 1; at < argc; ++at) {
        std::string const argument = argv[at];
        bool const separator = argument == "--";
        // A trailing separator separates nothing.
        if (separator && ++at == argc) break;
        bool const marked = separator || argument.starts_with(literal);
        arguments.push_back(marked ? literal + std::string{argv[at]} : argument);
    }
    std::reverse(arguments.begin(), arguments.end());
    return arguments;
}

/// Parses the command line of a sample.
class command_line {
public:
    command_line(command_line_description const& of, settings& target)
        : target_(&target), address_(of.default_store), has_store_(!of.prepares),
          has_servers_(has_store_ && !of.calls_services), line_(of.purpose, of.name) {
        line_.require_subcommand(1, 0);
        // Accepts --store also after a command.
        line_.fallthrough();
        line_.footer("Exit codes: 0 everything was read and settled (canceled is an outcome).\n1 "
                     "input was refused, check found a fault, or the request names a missing or "
                     "forbidden\nthing. 2 wrong usage. 3 the store could not be reached, "
                     "something is unsettled,\nor a later command was not begun. "
                     "See errors#conditions-and-exit-codes.\nSeveral commands may follow one "
                     "another: open FILE run FILE check\nA FILE may be -, the "
                     "standard input. An ID, ACCOUNT or FILE that begins with a dash or\n"
                     "is named like a command follows --: balance -- check");
        line_.set_version_flag("--version",
                               fmt::format("{} {}.{}.{}", of.name, SETTLE_VERSION / 10000,
                                           SETTLE_VERSION / 100 % 100, SETTLE_VERSION % 100));
        if (has_store_) {
            line_
                .add_option("--store", address_,
                            fmt::format("One of {}", known_stores(has_servers_)))
                ->capture_default_str()
                ->type_name("STORE");
        }
        if (has_servers_) {
            add_choice<layout>(line_, "--layout", target_->layout,
                               {{"own", layout::own}, {"tutorial", layout::tutorial}},
                               "tutorial: a database with leftovers of MongoDB's tutorial");
        }
        if (has_store_) {
            line_.add_flag("--two-phases", target_->two_phases,
                           "Uses two phases even if the store can use one phase");
        }
        for (text_option const& each : of.options) add_text(each);
        add_settling(of.open_options);
        bool const has_others = of.calls_services || of.prepares;
        add_looking(has_others);
        if (has_others) {
            auto& stuck = add(command::stuck, "Shows unfinished transactions that are old");
            add_age(stuck, target_->stuck_for, "Created so long ago (10m, or seen stuck before)");
        }
        if (of.calls_services) add_resolve();
        if (of.prepares) {
            add(command::doubts, "Shows the prepared parts without an end, and the next step");
        }
    }

    std::optional<exit_code> parse(int argc, char** argv) {
        try {
            line_.parse(arguments_of(argc, argv));
            for (auto* text :
                 {&address_, &target_->show_id, &target_->cancel_id, &target_->reverse_id,
                  &target_->resolve_id, &target_->participant, &target_->why, &target_->account}) {
                *text = plain(*text);
            }
            for (auto* path : {&target_->file, &target_->input}) {
                *path = plain(path->string());
            }
            if (has_store_) target_->store = parse_store_address(address_, has_servers_);
            if (target_->layout == layout::tutorial && target_->store.kind != store_kind::mongodb) {
                throw input_error("--layout tutorial is for a store mongodb://…");
            }
        } catch (CLI::Success const& answer) {
            line_.exit(answer);
            return exit_code::settled;
        } catch (CLI::ParseError const& error) {
            write_to_stderr(sentence_of(error));
            return exit_code::wrong_usage;
        } catch (input_error const& error) {
            write_to_stderr(fmt::format("{}\n", printable(error.what())));
            return exit_code::wrong_usage;
        }
        for (auto* given : line_.get_subcommands()) {
            // CLI11 lists a repeated command once; the second call would be lost silently.
            if (given->count() > 1) {
                write_to_stderr(given_twice(*given));
                return exit_code::wrong_usage;
            }
            target_->commands.push_back(commands_.at(given));
        }
        return std::nullopt;
    }

private:
    /// The error and where to find help. For an unknown argument, CLI11 would instead report a
    /// missing argument.
    std::string sentence_of(CLI::ParseError const& error) const {
        for (auto const* given : line_.get_subcommands()) {
            if (given->count() > 1) return given_twice(*given);
        }
        auto const unknown = line_.remaining(true);
        bool const lacking =
            error.get_exit_code() == static_cast<int>(CLI::ExitCodes::RequiredError) ||
            error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError);
        if (!lacking || unknown.empty()) {
            return fmt::format("{}\nRun with --help for more information.\n",
                               printable(error.what()));
        }
        auto const argument = printable(plain(unknown.front()));
        if (unknown.front().starts_with(literal)) {
            return fmt::format("'{}' follows '--'; no id, account or file is expected "
                               "here\n'{} --help' lists what there is\n",
                               argument, line_.get_name());
        }
        bool const option = unknown.front().starts_with('-');
        return fmt::format("there is no {} '{}'{}\n'{} --help' lists what there is\n",
                           option ? "option" : "command", argument,
                           option ? "; an id, account or file with such a beginning follows '--'"
                                  : "",
                           line_.get_name());
    }

    static std::string given_twice(CLI::App const& command) {
        return fmt::format("'{}' is given more than once\n", command.get_name());
    }

    void add_settling(std::vector<open_option> const& open_options) {
        auto& open = add(command::open, "Creates the records of the file in the store");
        add_file(open, target_->file);
        for (open_option const& each : open_options) add_open_option(open, each);
        auto& run = add(command::run, "Runs the transactions of the file; none runs twice");
        add_file(run, target_->input);
        add_report(run);
        add_count(run, "--batch", target_->pace.window, 1, pace::largest_window,
                  "Transactions under way at a time, on each thread; the store chooses the "
                  "default");
        add_count(run, "--threads", target_->pace.threads, 1, pace::most_threads,
                  "Threads that share the work; transactions of one record keep their order");
        auto& recover = add(command::recover, "Settles unfinished transactions of ended programs");
        add_age(recover, target_->standing_for,
                "Also transactions that have not moved for so long (30m)");
        add(command::work, "Runs submitted transactions");
        auto& home = add(command::home, "Says that a log which is elsewhere was moved or copied");
        add_choice<home_answer>(home, "ANSWER", target_->home,
                                {{"moved", home_answer::moved}, {"copied", home_answer::copied}},
                                "moved, or restored: the original is gone. copied: the original "
                                "stays in use, and the copy is closed without a call of a service")
            ->required();
        auto& purge = add(command::purge, "Erases finished entries from the log");
        add_age(purge, target_->finished_for, "Only entries created so long ago (30d; over 8d 1h)");
    }

    void add_report(CLI::App& run) {
        auto const take = [this](std::string const& path) {
            if (path.empty()) throw CLI::ValidationError("--report", "an empty name is no file");
            if (path == "-") {
                throw CLI::ValidationError("--report", "'-' is no file to write; /dev/stdout is "
                                                       "standard output, ./- is a file");
            }
            target_->report = path;
        };
        add_plain_option(run, "--report", take, "Also writes the report as JSON")
            ->type_name("FILE");
    }

    void add_looking(bool has_others) {
        auto& list = add(command::list, "Shows the log's entries");
        add_state(list, target_->state);
        add_age(list, target_->older_than, "Only entries that have not moved for so long");
        list.add_flag("--json", target_->list_json, "As JSON");
        add_id(command::show, target_->show_id, "Shows the whole entry of one transaction")
            .add_flag("--json", target_->show_json, "As JSON");
        add_id(command::cancel, target_->cancel_id, "Cancels a transaction that is not yet applied")
            .add_flag("--even-if-unknown", target_->even_if_unknown,
                      "Also an id without an entry: it can then never run");
        if (!has_others) {
            add_id(command::reverse, target_->reverse_id, "Undoes a transaction that is done");
        }
        add(command::balance, "Shows all balances, or the balance of one account")
            .add_option("ACCOUNT", target_->account, "The account")
            ->type_name("");
        add(command::check, "Checks that no money is lost and nothing is unfinished");
    }

    void add_text(text_option const& given) {
        line_.add_option(given.name, *given.target, given.purpose)
            ->capture_default_str()
            ->type_name("");
    }

    void add_resolve() {
        auto& resolve = add_id(command::resolve, target_->resolve_id,
                               "Closes a call that its service will never answer");
        resolve.add_option("PARTICIPANT", target_->participant, "The participant that calls")
            ->required()
            ->type_name("");
        resolve.add_option("REASON", target_->why, "How the call was settled by hand")
            ->required()
            ->type_name("");
        using settle::pivot_outcome;
        add_choice<pivot_outcome>(resolve, "--pivot", target_->resolving.pivot,
                                  {{"applied", pivot_outcome::was_applied},
                                   {"not-applied", pivot_outcome::was_not_applied}},
                                  "Of a deciding transaction: what its service says");
        resolve
            .add_option("--result", target_->resolving.result,
                        "JSON: the result of a pivot that was applied")
            ->type_name("");
    }

    CLI::App& add(command which, std::string const& purpose) {
        auto* const made = line_.add_subcommand(std::string{name_of(which)}, purpose);
        commands_.emplace(made, which);
        return *made;
    }

    CLI::App& add_id(command which, std::string& target, std::string const& purpose) {
        auto& made = add(which, purpose);
        made.add_option("ID", target, "The transaction's id")->required()->type_name("");
        return made;
    }

    static void add_file(CLI::App& command, std::filesystem::path& target) {
        command.add_option("FILE", target, "The table to read; - is standard input")
            ->required()
            ->type_name("");
    }

    settings* target_;
    std::string address_;
    bool has_store_;
    bool has_servers_;
    CLI::App line_;
    std::map<CLI::App*, command> commands_;
};

} // namespace

std::string_view name_of(command named) {
    switch (named) {
    case command::open: return "open";
    case command::run: return "run";
    case command::recover: return "recover";
    case command::work: return "work";
    case command::purge: return "purge";
    case command::list: return "list";
    case command::show: return "show";
    case command::cancel: return "cancel";
    case command::reverse: return "reverse";
    case command::balance: return "balance";
    case command::check: return "check";
    case command::stuck: return "stuck";
    case command::resolve: return "resolve";
    case command::doubts: return "doubts";
    case command::home: return "home";
    }
    return {};
}

std::optional<exit_code> read_command_line(command_line_description const& of, int argc,
                                           char** argv, settings& target) {
    return command_line{of, target}.parse(argc, argv);
}

} // namespace samples
