// SPDX-License-Identifier: BSL-1.0
// Reads a sample's command line with CLI11.
#include "settings.hpp"

#include "complain.hpp"
#include "input_error.hpp"
#include "money.hpp"
#include "report.hpp"

#include <settle/version.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace samples {

namespace {

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
    return line.add_option_function<std::string>(name, take, purpose)->type_name("MONEY");
}

/// What is wrong with a count, in words: CLI11 would name a range that it cannot count up to.
CLI::ValidationError no_count(std::string const& name, std::string const& text, std::int64_t least,
                              std::int64_t most) {
    bool const any = most == std::numeric_limits<std::int64_t>::max();
    auto const end = any ? "2^63 - 1" : with_commas(static_cast<std::uint64_t>(most));
    return CLI::ValidationError(
        name, fmt::format("'{}' is not a whole number from {} to {}", text, least, end));
}

/// Makes an option that takes a whole number between two others.
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
    return line.add_option_function<std::string>(name, take, purpose)->type_name("COUNT");
}

void add_open_option(CLI::App& open, open_option const& given) {
    if (given.what == open_option::kind::money) {
        add_money(open, given.name, *given.target, given.purpose)->required();
    } else {
        add_count(open, given.name, *given.target, 0, std::numeric_limits<std::int64_t>::max(),
                  given.purpose)
            ->required();
    }
}

/// `--state`, which takes the words that `list` prints.
void add_state(CLI::App& line, std::optional<settle::state>& target) {
    using settle::state;
    std::vector<std::string> names;
    std::map<std::string, state> states;
    for (auto const each : {state::initial, state::pending, state::applied, state::done,
                            state::canceling, state::canceled}) {
        names.emplace_back(name_of(each));
        states.emplace(name_of(each), each);
    }
    line.add_option_function<std::string>(
            "--state", [&target, states](std::string const& name) { target = states.at(name); },
            "Only those in this state")
        ->check(CLI::IsMember(names));
}

/// An option such as `30m`; a bare number is seconds.
void add_age(CLI::App& line, std::chrono::seconds& target, std::string const& purpose) {
    std::map<std::string, std::int64_t> const units{{"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}};
    constexpr std::int64_t ten_years = std::int64_t{86400} * 3653;
    line.add_option_function<std::int64_t>(
            "--older-than", [&target](std::int64_t count) { target = std::chrono::seconds(count); },
            purpose)
        ->transform(CLI::AsNumberWithUnit(units))
        ->check(CLI::Range(std::int64_t{0}, ten_years))
        ->type_name("30s|30m|2h|1d");
}

/// The command line of a sample while it is read.
class command_line {
public:
    command_line(command_line_words const& words, settings& target)
        : target_(&target), address_(words.default_store), line_(words.purpose, words.name) {
        line_.require_subcommand(1, 0);
        // So that --store may stand behind a command as well as before it.
        line_.fallthrough();
        line_.footer("Exit codes: 0 everything was read and settled (canceled is an outcome), "
                     "1 input refused or check failed,\n2 wrong usage, 3 the store could not be "
                     "reached or something is left unsettled.\nSeveral commands may follow one "
                     "another: --store memory: open FILE run FILE check");
        line_.set_version_flag("--version", fmt::format("{} {}.{}.{}", words.name,
                                                        SETTLE_VERSION / 10000,
                                                        SETTLE_VERSION / 100 % 100,
                                                        SETTLE_VERSION % 100));
        line_.add_option("--store", address_, "sqlite:PATH, memory: or mongodb://HOST/DATABASE")
            ->capture_default_str();
        line_.add_option("--layout", target_->layout,
                         "tutorial: what the programs of MongoDB's tutorial left in a database")
            ->transform(CLI::Transformer(std::map<std::string, layout>{
                {"own", layout::own}, {"tutorial", layout::tutorial}}))
            ->check(CLI::IsMember({layout::own, layout::tutorial}))
            ->type_name("own|tutorial");
        line_.add_flag("--two-phases", target_->two_phases,
                       "Settles in two phases also what the store could settle at once");
        add_settling(words.open_options);
        add_looking();
    }

    std::optional<exit_code> parse(int argc, char** argv) {
        try {
            line_.parse(argc, argv);
            target_->store = parse_store_address(address_);
            if (target_->layout == layout::tutorial && target_->store.kind != store_kind::mongodb) {
                throw input_error("--layout tutorial is for a store mongodb://…");
            }
        } catch (CLI::ParseError const& error) {
            // Without one that it knows, CLI11 says only that there has to be a command.
            bool const unnamed =
                error.get_exit_code() == static_cast<int>(CLI::ExitCodes::RequiredError) &&
                line_.get_subcommands().empty() && !line_.remaining().empty();
            if (unnamed) {
                auto const word = line_.remaining().front();
                write_to_stderr(fmt::format("there is no {} '{}'\n'{} --help' lists what there "
                                            "is\n",
                                            word.starts_with('-') ? "option" : "command", word,
                                            line_.get_name()));
                return exit_code::wrong_usage;
            }
            return line_.exit(error) == 0 ? exit_code::settled : exit_code::wrong_usage;
        } catch (input_error const& error) {
            write_to_stderr(fmt::format("{}\n", error.what()));
            return exit_code::wrong_usage;
        }
        for (auto* given : line_.get_subcommands()) {
            // CLI11 would give it once, and one call of two would be lost without a word.
            if (given->count() > 1) {
                write_to_stderr(
                    fmt::format("'{}' is given more than once\n", given->get_name()));
                return exit_code::wrong_usage;
            }
            target_->commands.push_back(commands_.at(given));
        }
        return std::nullopt;
    }

private:
    void add_settling(std::vector<open_option> const& open_options) {
        auto& open = add(command::open, "Puts what the file names into the store");
        open.add_option("FILE", target_->file, "The table to read")->required();
        for (open_option const& each : open_options) add_open_option(open, each);
        auto& run = add(command::run, "Runs what is not yet run; nothing runs twice");
        run.add_option("FILE", target_->input, "The table to read")->required();
        run.add_option("--report", target_->report, "Also writes the report as JSON");
        add_count(run, "--batch", target_->pace.window, 1, pace::largest_window,
                  "How many are under way at a time, on each thread; without it, as the store "
                  "likes");
        add_count(run, "--threads", target_->pace.threads, 1, pace::most_threads,
                  "How many threads share the work; what concerns one record stays in order");
        auto& recover = add(command::recover, "Settles what programs left unfinished");
        add_age(recover, target_->standing_for, "What stood still for that long (30m)");
        add(command::work, "Runs what was submitted and nobody has begun");
        auto& purge = add(command::purge, "Erases finished entries from the log");
        add_age(purge, target_->finished_for, "What was begun that long ago (30d; over 8d 1h)");
    }

    void add_looking() {
        auto& list = add(command::list, "Shows the log's entries");
        add_state(list, target_->state);
        add_age(list, target_->older_than, "Only those that stood still for that long");
        list.add_flag("--json", target_->list_json, "As JSON");
        add_id(command::show, target_->show_id, "Shows all that the log knows of one transaction")
            .add_flag("--json", target_->show_json, "As JSON");
        add_id(command::cancel, target_->cancel_id, "Cancels a transaction that is not yet applied")
            .add_flag("--even-if-unknown", target_->even_if_unknown,
                      "Also an id that nobody knows: it can then never run");
        add_id(command::reverse, target_->reverse_id, "Undoes a transaction that is done");
        add(command::balance, "Shows what is on the accounts, or on one")
            .add_option("ACCOUNT", target_->account, "The account");
        add(command::check, "Checks that no money is lost and nothing is unfinished");
    }

    CLI::App& add(command what, std::string const& purpose) {
        auto* const made = line_.add_subcommand(std::string{name_of(what)}, purpose);
        commands_.emplace(made, what);
        return *made;
    }

    CLI::App& add_id(command what, std::string& target, std::string const& purpose) {
        auto& made = add(what, purpose);
        made.add_option("ID", target, "The transaction's id")->required();
        return made;
    }

    settings* target_;
    std::string address_;
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
    }
    return {};
}

std::optional<exit_code> read_command_line(command_line_words const& words, int argc, char** argv,
                                           settings& target) {
    return command_line{words, target}.parse(argc, argv);
}

} // namespace samples
