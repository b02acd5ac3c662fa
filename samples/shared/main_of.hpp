// SPDX-License-Identifier: BSL-1.0
// The main function that all samples share.
#pragma once

#include "application.hpp"
#include "store.hpp"

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

inline bool has_command(settings const& given, std::string_view name) {
    return std::find(given.commands.begin(), given.commands.end(), name) != given.commands.end();
}

/// The files that a command line names beside its report.
inline std::vector<std::filesystem::path> files_of(settings const& given) {
    std::vector<std::filesystem::path> named{given.input};
    if (has_command(given, "open")) named.push_back(given.file);
    constexpr std::string_view scheme = "sqlite:";
    if (!given.store.starts_with(scheme)) return named;
    // SQLite keeps files beside a database.
    for (auto const* end : {"", "-wal", "-shm", "-journal"}) {
        named.emplace_back(given.store.substr(scheme.size()) + end);
    }
    return named;
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
        settings given;
        given.store = Application::default_store;
        // A prepared transaction holds its locks until its whole window is decided.
        if constexpr (prepares<Application>) given.window = 1;
        auto const ended = read_command_line(line, argc, argv, given);
        if (ended) return *ended;
        if (!given.report.empty()) check_report_path(given.report, files_of(given));
        return run(given);
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
    return detail::main_of(application, line, argc, argv, [&](settings& given) {
        std::string_view server;
        try {
            server = server_of(given.store, has_servers);
            if (given.tutorial && server != "mongodb") {
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
        if (given.tutorial) return linked.call_tutorial(given, interrupted);
        auto store =
            linked.open(given.store, Application::tables, detail::has_command(given, "open"));
        return call_all(application, store, given, interrupted);
    });
}

/// The same for an application that opens its databases itself.
template <typename Application>
int main_of(Application application, int argc, char** argv) {
    return detail::main_of(application, {}, argc, argv, [&](settings const& given) {
        interrupt interrupted;
        return application.visit_store(
            [&](auto& store) { return call_all(application, store, given, interrupted); });
    });
}

} // namespace samples
