// SPDX-License-Identifier: BSL-1.0
// Reads a sample's command line with CLI11.
#include "settings.hpp"

#include "money.hpp"

#include <settle/version.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <array>
#include <map>

namespace samples {

namespace {

/// The options that leave entries out.
constexpr std::array filter_names{"--state",  "--older-than", "--type",       "--id-prefix",
                                  "--record", "--reason",     "--participant"};

constexpr char const* footer =
    "Exit codes: 0 everything was read and settled (canceled is an outcome).\n"
    "1 input was refused, check found a fault, or the request names a missing or forbidden\n"
    "thing. 2 wrong usage. 3 the store could not be reached, something is unsettled,\n"
    "or a later command was not begun. See errors#conditions-and-exit-codes.\n"
    "Several commands may follow one another: open FILE run FILE check\n"
    "An ID, ACCOUNT or FILE that begins with a dash or is named like a command is the last\n"
    "argument, and follows --: balance -- check";

/// Reads a duration such as `30m`, of ten years at most; a bare number is seconds.
std::optional<std::chrono::seconds> parse_age(std::string text) {
    static std::map<char, std::int64_t> const units{{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}};
    constexpr std::int64_t ten_years = std::int64_t{86400} * 3653;
    constexpr std::size_t most_digits = 9;
    std::int64_t unit = 1;
    if (!text.empty() && units.contains(text.back())) {
        unit = units.at(text.back());
        text.pop_back();
    }
    bool const is_number = !text.empty() && text.size() <= most_digits &&
                           text.find_first_not_of("0123456789") == text.npos;
    if (!is_number || std::stoll(text) > ten_years / unit) return std::nullopt;
    return std::chrono::seconds(std::stoll(text) * unit);
}

/// Shape:   Target - a number of seconds, or an optional one
template <typename Target>
void add_age(CLI::App& line, Target& target, std::string const& purpose) {
    auto const take = [&target](std::string const& text) {
        auto const age = parse_age(text);
        if (!age) {
            throw CLI::ValidationError("--older-than", fmt::format("'{}' is no time such as 90s, "
                                                                   "30m, 2h or 1d, of ten years "
                                                                   "at most",
                                                                   text));
        }
        target = *age;
    };
    line.add_option_function<std::string>("--older-than", take, purpose)->type_name("30m|2h|1d");
}

/// Parses the command line of a sample.
class command_line {
public:
    command_line(command_line_description const& description, settings& target)
        : description_(&description), target_(&target),
          line_(description.purpose, description.name) {
        line_.require_subcommand(1, 0);
        // Accepts --store also after a command.
        line_.fallthrough();
        line_.footer(footer);
        line_.set_version_flag("--version",
                               fmt::format("{} {}.{}.{}", description.name, SETTLE_VERSION / 10000,
                                           SETTLE_VERSION / 100 % 100, SETTLE_VERSION % 100));
        if (!description.known_stores.empty()) {
            line_
                .add_option("--store", target.store,
                            fmt::format("One of {}", description.known_stores))
                ->capture_default_str()
                ->type_name("STORE");
            line_.add_flag("--two-phases", target.two_phases,
                           "Uses two phases even if the store can use one phase");
        }
        if (description.has_layouts) {
            auto const take = [&target](std::string const& text) {
                target.tutorial = text == "tutorial";
            };
            line_
                .add_option_function<std::string>(
                    "--layout", take, "tutorial: a database with leftovers of MongoDB's tutorial")
                ->check(CLI::IsMember({"own", "tutorial"}));
        }
        add_commands();
    }

    std::optional<exit_code> parse(int argc, char** argv) {
        try {
            line_.parse(argc, argv);
        } catch (CLI::Success const& answer) {
            line_.exit(answer);
            return exit_code::settled;
        } catch (CLI::ParseError const& error) {
            return wrong(sentence_of(error));
        }
        for (auto const* command : line_.get_subcommands()) {
            // CLI11 lists a repeated command once; the second call would be lost silently.
            if (command->count() > 1) {
                return wrong(fmt::format("'{}' is given more than once", command->get_name()));
            }
            if (auto const fault = fault_of_choice(*command); !fault.empty()) return wrong(fault);
            target_->commands.push_back(command->get_name());
        }
        return std::nullopt;
    }

private:
    exit_code wrong(std::string const& sentence) const {
        complain(description_->name, sentence + ". '--help' lists what there is");
        return exit_code::wrong_usage;
    }

    /// For an unknown argument, CLI11 would instead report a missing command or option.
    std::string sentence_of(CLI::ParseError const& error) const {
        auto const unknown = line_.remaining(true);
        using code = CLI::ExitCodes;
        bool const lacks = error.get_exit_code() == static_cast<int>(code::RequiredError) ||
                           error.get_exit_code() == static_cast<int>(code::ExtrasError);
        if (!lacks || unknown.empty()) return error.what();
        auto const& name = unknown.front();
        if (!name.starts_with('-')) return fmt::format("there is no command '{}'", name);
        std::string commands;
        for (auto const* each : line_.get_subcommands({})) {
            if (each->get_option_no_throw(name) == nullptr) continue;
            commands += fmt::format("{}'{}'", commands.empty() ? "" : ", ", each->get_name());
        }
        if (commands.empty()) return fmt::format("there is no option '{}'", name);
        return fmt::format("there is no option '{}' here; it is an option of {}", name, commands);
    }

    /// What is wrong with the ID or the choice of a command; empty if nothing is.
    static std::string fault_of_choice(CLI::App const& command) {
        auto const& name = command.get_name();
        auto const* const id = command.get_option_no_throw("ID");
        if (id == nullptr) return {};
        // An empty variable of a shell must not become an action on all.
        if (id->count() != 0 && id->as<std::string>().empty())
            return fmt::format("the ID of '{}' is empty", name);
        if (command.get_option_no_throw("--all") == nullptr) return {};
        bool has_choice = command.count("--all") != 0;
        for (auto const* filter : filter_names) has_choice |= command.count(filter) != 0;
        if (id->count() == 0) {
            // It also settles what it finds without a choice.
            if (has_choice || name == "recover") return {};
            return fmt::format("'{}' needs an ID, a filter ({}), or --all for every entry", name,
                               fmt::join(filter_names, ", "));
        }
        if (!has_choice) return {};
        return fmt::format("'{}' takes an ID, or {} and --all, but not both", name,
                           fmt::join(filter_names, ", "));
    }

    void add_commands() {
        bool const has_others = description_->calls_services || description_->prepares;
        auto& open = add("open", "Creates the records of the file in the store");
        open.add_option("FILE", target_->file, "The table to read")->required();
        description_->add_options(line_, open);
        auto& run = add("run", "Runs the transactions of the file; none runs twice");
        run.add_option("FILE", target_->input, "The table to read")->required();
        run.add_option("--report", target_->report, "Also writes the report as JSON");
        run.add_option("--batch", target_->window,
                       "Transactions under way at a time, on each thread; the store chooses the "
                       "default")
            ->check(CLI::Range(std::size_t{1}, settings::most_in_flight));
        run.add_option("--threads", target_->threads,
                       "Threads that share the work; transactions of one record keep their order")
            ->check(CLI::Range(std::size_t{1}, settings::most_threads));
        add_action("recover", target_->recover,
                   "Settles unfinished transactions of ended programs, or those of a choice");
        add("work", "Runs submitted transactions");
        add("home", "Says that a log which is elsewhere was moved or copied")
            .add_option_function<std::string>(
                "ANSWER",
                [this](std::string const& text) { target_->was_copied = text == "copied"; },
                "moved, or restored: the original is gone. copied: the original stays in use, and "
                "the copy is closed without a call of a service")
            ->required()
            ->check(CLI::IsMember({"moved", "copied"}));
        add_age(add("purge", "Erases finished entries from the log"), target_->finished_for,
                "Only entries created so long ago (30d; over 8d 1h)");
        add_looking();
        if (!has_others) {
            add_action("reverse", target_->reverse, "Undoes a transaction that is done");
        } else {
            auto& stuck = add("stuck", "Shows unfinished transactions that are old");
            add_age(stuck, target_->stuck.older_than,
                    "Created so long ago (10m, or seen stuck before)");
            add_json(stuck, target_->stuck);
        }
        if (description_->calls_services) {
            add_resolve();
            add_scope("pause", "Pauses calls of services, for all programs, until they are resumed")
                .add_option("REASON", target_->why, "For people")
                ->required();
            add_scope("resume", "Resumes paused calls");
        }
        add("doubts", "Shows what holds records without an end, and the next step");
    }

    void add_looking() {
        auto& list = add("list", "Shows the log's entries");
        add_choice(list, target_->list);
        add_id("show", target_->show_id, "Shows the whole entry of one transaction")
            .add_flag("--json", target_->show_json, "As JSON");
        add_action("cancel", target_->cancel, "Cancels a transaction that is not yet applied")
            .add_flag("--even-if-unknown", target_->even_if_unknown,
                      "Also an id without an entry: it can then never run")
            ->needs("ID");
        add("balance", "Shows all balances, or the balance of one account")
            .add_option("ACCOUNT", target_->account, "The account");
        add("check", "Checks that no money is lost and nothing is unfinished");
        add("serve", "Serves a page for operators on this machine, until Ctrl-C")
            .add_option("--port", target_->port, "The port to listen on; 0 for a free one")
            ->capture_default_str();
        add("picture", "Draws the transaction types as Mermaid charts; needs no store")
            .add_flag("--dot", target_->dot, "For Graphviz");
        for (auto const& [model, checker] : {std::pair{"promela", "spin"}, {"tla", "TLC"}}) {
            add(model, fmt::format("Prints a transaction type as a model for the checker {}; needs "
                                   "no store",
                                   checker))
                .add_option("TYPE", target_->modeled, "The type, if not the first");
        }
    }

    void add_resolve() {
        auto& resolve = add_id("resolve", target_->resolve.id,
                               "Closes a call that its service will never answer");
        add_json(resolve, target_->resolve);
        add_consent(resolve, target_->resolve);
        resolve.add_option("PARTICIPANT", target_->participant, "The participant that calls")
            ->required();
        resolve.add_option("REASON", target_->why, "How the call was settled by hand")->required();
        using settle::pivot_outcome;
        auto const take = [this](std::string const& text) {
            target_->resolving.pivot =
                text == "applied" ? pivot_outcome::was_applied : pivot_outcome::was_not_applied;
        };
        resolve
            .add_option_function<std::string>("--pivot", take,
                                              "Of a deciding transaction: what its service says")
            ->check(CLI::IsMember({"applied", "not-applied"}));
        resolve.add_option("--result", target_->resolving.result,
                           "JSON: the result of a pivot that was applied");
    }

    /// An action on one transaction, or on those of a choice.
    CLI::App& add_action(std::string const& name, chosen_action& target,
                         std::string const& purpose) {
        auto& command = add(name, purpose);
        command.add_option("ID", target.id, "The transaction's id");
        add_choice(command, target);
        command.add_flag("--all", target.is_for_all, "All entries, in place of an ID or a filter");
        add_consent(command, target);
        return command;
    }

    static void add_consent(CLI::App& command, chosen_action& target) {
        command.add_flag("--dry-run", target.is_dry_run, "Says what would happen; changes nothing");
        command.add_flag("--yes", target.is_agreed, "Asks nobody before many entries are changed");
    }

    static void add_json(CLI::App& command, entry_choice& target) {
        command.add_flag("--json", target.is_json, "As JSON");
    }

    static void add_choice(CLI::App& command, entry_choice& target) {
        std::vector<std::string> names;
        for (auto const each : settle::all_states) names.emplace_back(name_of(each));
        auto const take = [&target](std::string const& text) {
            for (auto const each : settle::all_states) {
                if (name_of(each) == text) target.state = each;
            }
        };
        command.add_option_function<std::string>("--state", take, "Only entries in this state")
            ->check(CLI::IsMember(names));
        std::vector<std::string> reasons;
        for (auto const each : settle::all_reasons) reasons.emplace_back(name_of(each));
        command.add_option("--reason", target.reason, "Only entries canceled for this reason")
            ->check(CLI::IsMember(reasons));
        command.add_option("--type", target.type, "Only entries of this transaction type");
        command.add_option("--id-prefix", target.id_prefix, "Only ids that begin so");
        command.add_option("--participant", target.participant,
                           "Only entries that this participant canceled");
        command.add_option("--record", target.record, "Only entries with a part on this record")
            ->type_name("COLLECTION/KEY");
        add_age(command, target.older_than,
                command.get_name() == "recover"
                    ? "Also transactions that have not moved for so long (30m)"
                    : "Only entries that have not moved for so long");
        add_json(command, target);
    }

    CLI::App& add_scope(std::string const& name, std::string const& purpose) {
        auto& command = add(name, purpose);
        auto const take = [this](std::string const& text) {
            for (auto const each : settle::all_pause_scopes) {
                if (name_of(each) == text) target_->scope = each;
            }
        };
        command.add_option_function<std::string>("SCOPE", take, "What the name is of")
            ->required()
            ->check(CLI::IsMember({"service", "type", "transaction"}));
        command.add_option("NAME", target_->scope_name, "A name, or an id")->required();
        add_json(command, target_->pause);
        add_consent(command, target_->pause);
        return command;
    }

    CLI::App& add(std::string const& name, std::string const& purpose) {
        return *line_.add_subcommand(name, purpose);
    }

    CLI::App& add_id(std::string const& name, std::string& target, std::string const& purpose) {
        auto& command = add(name, purpose);
        command.add_option("ID", target, "The transaction's id")->required();
        return command;
    }

    command_line_description const* description_;
    settings* target_;
    CLI::App line_;
};

} // namespace

void add_money(CLI::App& line, std::string const& name, std::int64_t& target,
               std::string const& purpose) {
    auto const take = [name, &target](std::string const& text) {
        try {
            target = parse_money("amount", text);
        } catch (input_error const& error) {
            throw CLI::ValidationError(name, error.what());
        }
        if (target < 0) throw CLI::ValidationError(name, "the amount is below zero");
    };
    line.add_option_function<std::string>(name, take, purpose)->required()->type_name("MONEY");
}

void add_count(CLI::App& line, std::string const& name, std::int64_t& target,
               std::string const& purpose) {
    line.add_option(name, target, purpose)->required()->check(CLI::NonNegativeNumber);
}

void add_text(CLI::App& line, std::string const& name, std::string& target,
              std::string const& purpose) {
    line.add_option(name, target, purpose)->capture_default_str();
}

std::optional<exit_code> read_command_line(command_line_description const& description, int argc,
                                           char** argv, settings& target) {
    return command_line{description, target}.parse(argc, argv);
}

} // namespace samples
