// SPDX-License-Identifier: BSL-1.0
// The settings of a sample's command line: its commands, their order, and their options.
#pragma once

#include "exit_code.hpp"
#include "pace.hpp"
#include "store_address.hpp"

#include <settle/protocol/state.hpp>
#include <settle/running/construction/options.hpp>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace samples {

enum class command {
    open,
    run,
    recover,
    work,
    purge,
    list,
    show,
    cancel,
    reverse,
    balance,
    check,
    stuck,
    resolve,
    doubts,
    home
};

/// What a person says about a log that is elsewhere.
enum class home_answer {
    moved, ///< or restored; the original is gone
    copied ///< the original stays in use
};

/// The name of a command on the command line.
std::string_view name_of(command named);

/// The layout of a store's documents.
enum class layout {
    own,     ///< settle's own
    tutorial ///< the layout of MongoDB's tutorial
};

struct settings {
    store_address store;
    samples::layout layout = samples::layout::own;
    bool two_phases = false;
    std::vector<command> commands; // in the order given
    std::filesystem::path file;    // of open
    std::filesystem::path input;   // of run
    std::filesystem::path report;
    samples::pace pace;
    std::string show_id; // each command has its own, since several may be given
    std::string cancel_id;
    std::string reverse_id;
    std::string resolve_id;
    std::string participant; // of resolve
    std::string why;         // of resolve
    settle::resolve_options resolving;
    std::string account;
    std::optional<settle::state> state;
    std::chrono::seconds older_than{0};
    std::chrono::seconds standing_for{std::chrono::minutes(30)};
    std::chrono::seconds finished_for{std::chrono::hours(24 * 30)}; // of purge
    std::optional<std::chrono::seconds> stuck_for{}; ///< empty: what the engine calls stuck
    bool list_json = false;
    bool show_json = false;
    bool even_if_unknown = false;
    home_answer home = home_answer::moved;
};

/// An option of `open` besides the file: an amount of money, or a count.
struct open_option {
    enum class kind { money, count };

    std::string name; // with its dashes
    std::string purpose;
    kind type = kind::money;
    std::int64_t* target = nullptr;
};

/// An option of the program: a text with a default.
struct text_option {
    std::string name; // with its dashes
    std::string purpose;
    std::string* target = nullptr;
};

/// The special parts of a sample's command line.
struct command_line_description {
    std::string name;
    std::string purpose;
    std::string default_store;
    std::vector<open_option> open_options;
    std::vector<text_option> options{};
    bool calls_services = false; // has `stuck` and `resolve`, no `reverse`, no store of a server
    bool prepares = false;       // has `stuck` and `doubts`, no `reverse`, no option --store
};

/// Reads the command line. For help or an error, prints the text and returns the exit code.
std::optional<exit_code> read_command_line(command_line_description const& of, int argc,
                                           char** argv, settings& target);

} // namespace samples
