// SPDX-License-Identifier: BSL-1.0
// The settings of a sample's command line: its commands, their order, and their options.
#pragma once

#include "text.hpp"

#include <settle/protocol/state.hpp>
#include <settle/running/construction/options.hpp>
#include <settle/running/driving/call_pauses.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace samples {

/// The entries that a command is for, and how it shows them.
struct entry_choice {
    std::optional<settle::state> state;
    std::optional<std::chrono::seconds> older_than;
    std::string type; ///< the texts are empty for every entry
    std::string id_prefix;
    std::string record; ///< COLLECTION/KEY
    std::string reason;
    std::string participant;
    bool is_json = false;

    /// True if it leaves entries out for more than their age.
    [[nodiscard]] bool has_filter() const {
        return state || !(type + id_prefix + record + reason + participant).empty();
    }
};

/// The entries that an action is for, and how it is taken.
struct chosen_action : entry_choice {
    std::string id; ///< empty: the entries of the choice
    bool is_for_all = false;
    bool is_dry_run = false;
    bool is_agreed = false; ///< no person is asked
};

struct settings {
    static constexpr std::size_t most_in_flight = 20'000;
    static constexpr std::size_t most_threads = 64;

    std::string store; // its address
    bool tutorial = false;
    bool two_phases = false;
    std::vector<std::string> commands; // in the order given
    std::filesystem::path file;        // of open
    std::filesystem::path input;       // of run
    std::filesystem::path report;
    std::size_t window = 0; // transactions in flight on each thread; 0 lets the stores decide
    std::size_t threads = 1;
    std::string show_id;
    chosen_action cancel; // each command has its own, since several may be given
    chosen_action recover;
    chosen_action reverse;
    chosen_action resolve;
    chosen_action pause;     ///< and resume
    std::string participant; // of resolve
    std::string why;         // of resolve and pause
    settle::resolve_options resolving;
    settle::pause_scope scope{}; // of pause and resume
    std::string scope_name;
    std::string account;
    entry_choice list;
    entry_choice stuck; ///< without a time: what the engine calls stuck
    std::chrono::seconds finished_for{std::chrono::hours(24 * 30)}; // of purge
    bool show_json = false;
    bool dot = false;          ///< of picture; false: Mermaid
    std::string modeled;       ///< of promela and tla: the type; empty: the first
    std::uint16_t port = 8080; ///< of serve
    bool even_if_unknown = false;
    bool was_copied = false; ///< of home; false: moved
};

/// The special parts of a sample's command line.
struct command_line_description {
    std::string name;
    std::string purpose;
    /// Adds the application's own options, of the program and of `open`.
    std::function<void(CLI::App& line, CLI::App& open)> add_options;
    std::string known_stores{};  // the forms of their addresses; empty: no option --store
    bool has_layouts = false;    // may have leftovers of MongoDB's tutorial
    bool calls_services = false; // has `stuck`, `resolve`, `pause` and `resume`, no `reverse`
    bool prepares = false;       // has `stuck`, no `reverse`
};

// For add_options. CLI11's header is long, so that only settings.cpp includes it.

/// Adds an option that is required and takes an amount of money, not below zero.
void add_money(CLI::App& line, std::string const& name, std::int64_t& target,
               std::string const& purpose);
/// Adds an option that is required and takes a number, not below zero.
void add_count(CLI::App& line, std::string const& name, std::int64_t& target,
               std::string const& purpose);
/// Adds an option that takes a text; the help shows its value of now.
void add_text(CLI::App& line, std::string const& name, std::string& target,
              std::string const& purpose);

/// Reads the command line. For help or an error, prints the text and returns the exit code.
/// Shape:   target - with the default values
std::optional<exit_code> read_command_line(command_line_description const& description, int argc,
                                           char** argv, settings& target);

} // namespace samples
