// SPDX-License-Identifier: BSL-1.0
// The main function that all samples share.
#pragma once

#include "application.hpp"
#include "store.hpp"

#include <settle/model.hpp>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <stdio_ext.h>

namespace samples {

namespace detail {

inline bool has_command(settings const& settings, std::string_view name) {
    return std::find(settings.commands.begin(), settings.commands.end(), name) !=
           settings.commands.end();
}

/// The files that a command line names beside its report.
inline std::vector<std::filesystem::path> files_of(settings const& settings) {
    std::vector<std::filesystem::path> named{settings.input};
    if (has_command(settings, "open")) named.push_back(settings.file);
    constexpr std::string_view scheme = "sqlite:";
    if (!settings.store.starts_with(scheme)) return named;
    // SQLite keeps files beside a database.
    for (auto const* end : {"", "-wal", "-shm", "-journal"}) {
        named.emplace_back(settings.store.substr(scheme.size()) + end);
    }
    return named;
}

/// The command that describes the types and needs no store; empty if there is none.
inline std::string description_in(settings const& settings) {
    for (auto const* name : {"picture", "promela", "tla"}) {
        if (has_command(settings, name)) return name;
    }
    return {};
}

/// Prints pictures of all types of an application, or a model of one.
template <typename Application>
exit_code describe(settings const& settings, std::string const& command) {
    auto const refuse = [&](std::string const& sentence) {
        complain(Application::name, sentence);
        return exit_code::wrong_usage;
    };
    if (settings.commands.size() > 1) {
        return refuse(fmt::format("'{}' stands alone. '--help' lists what there is", command));
    }
    std::string names;
    bool printed = false;
    Application::each_type([&](auto const& type) {
        names += fmt::format("{}'{}'", names.empty() ? "" : ", ", type.name);
        if (command == "picture") {
            auto const drawn = settle::picture(type);
            print("{}\n", settings.dot ? drawn.dot : drawn.mermaid);
        } else if (printed || (!settings.modeled.empty() && settings.modeled != type.name)) {
            return;
        } else {
            print("{}", command == "promela" ? settle::promela(type) : settle::tla(type));
        }
        printed = true;
    });
    return printed ? exit_code::settled
                   : refuse(fmt::format("there is no transaction type '{}', but {}",
                                        settings.modeled, names));
}

/// Shape:   run(settings&) - opens the databases and calls the commands
template <typename Application, typename Run>
int main_of(Application& application, command_line_description line, int argc, char** argv,
            Run&& run) {
    // A reader such as `head` may end before the report is written to its file.
    std::signal(SIGPIPE, SIG_IGN);
    line.name = Application::name;
    line.purpose = Application::purpose;
    line.prepares = prepares<Application>;
    line.calls_services = has_others<Application> && !prepares<Application>;
    line.add_options = [&](CLI::App& program, CLI::App& open) {
        application.add_options(program, open);
    };
    auto code = code_of(Application::name, [&] {
        settings settings;
        settings.store = Application::default_store;
        // A prepared transaction holds its locks until its whole window is decided.
        if constexpr (prepares<Application>) settings.window = 1;
        auto const ended = read_command_line(line, argc, argv, settings);
        if (ended) return *ended;
        auto const description = description_in(settings);
        if (!description.empty()) return describe<Application>(settings, description);
        if (!settings.report.empty()) check_report_path(settings.report, files_of(settings));
        return run(settings);
    });
    if (std::ferror(stdout) != 0 || std::fflush(stdout) != 0) {
        __fpurge(stdout); // the end of the process would wait for the reader again
        if (code == exit_code::settled) {
            complain(Application::name, "the output could not be written");
        }
        code = worse(code, exit_code::unsettled);
    }
    return static_cast<int>(code);
}

} // namespace detail

/// The whole program: reads the command line, opens the store, calls the commands.
template <typename Application>
int main_of(Application application, linked_store const& linked, int argc, char** argv) {
    bool const has_servers = !has_others<Application>;
    command_line_description line;
    line.known_stores = known_stores(has_servers);
    line.has_layouts = has_servers;
    return detail::main_of(application, line, argc, argv, [&](settings& settings) {
        std::string_view server;
        try {
            server = server_of(settings.store, has_servers);
            if (settings.tutorial && server != "mongodb") {
                throw input_error("--layout tutorial is for a store mongodb://…");
            }
        } catch (input_error const& error) {
            complain(Application::name, error.what());
            return exit_code::wrong_usage;
        }
        if (server != linked.server) {
            if (linked.server.empty()) become_store_program(Application::name, server, argv);
            throw std::runtime_error(fmt::format("this program is for a store {0}://…; use '{1}', "
                                                 "which is for all",
                                                 linked.server, Application::name));
        }
        interrupt interrupted;
        if (settings.tutorial) return linked.call_tutorial(settings, interrupted);
        auto store =
            linked.open(settings.store, Application::tables, detail::has_command(settings, "open"));
        return call_all(application, store, settings, interrupted);
    });
}

/// The same for an application that opens its databases itself.
template <typename Application>
int main_of(Application application, int argc, char** argv) {
    return detail::main_of(application, {}, argc, argv, [&](settings const& settings) {
        interrupt interrupted;
        return application.visit_store(
            [&](auto& store) { return call_all(application, store, settings, interrupted); });
    });
}

} // namespace samples
