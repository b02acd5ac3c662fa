// SPDX-License-Identifier: BSL-1.0
// The main function that all samples share.
#pragma once

#include "application.hpp"
#include "linked_store.hpp"
#include "named_files.hpp"
#include "store_program.hpp"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <stdexcept>
#include <string>

namespace samples {

/// Opens the store and calls the requested commands.
template <typename Application>
exit_code call_all(Application& application, linked_store const& linked, settings& given) {
    interrupt interrupted;
    if (given.layout == layout::tutorial) return linked.call_tutorial(given, interrupted);
    auto const& commands = given.commands;
    bool const opens = std::find(commands.begin(), commands.end(), command::open) != commands.end();
    auto store = linked.open(given.store, Application::tables, opens);
    return call_all(application, store, given, interrupted);
}

namespace detail {

/// Shape:   run(settings&) - opens the databases and calls the commands
template <typename Application, typename Run>
int main_of(Application& application, int argc, char** argv, Run&& run) {
    occupy_standard_descriptors();
    // A reader such as `head` may end before the report is written to its file.
    std::signal(SIGPIPE, SIG_IGN);
    auto code = code_of(Application::name, [&] {
        settings given;
        command_line_description line{std::string{Application::name},
                                      std::string{Application::purpose},
                                      std::string{Application::default_store},
                                      application.open_options(),
                                      {},
                                      has_others<Application> && !prepares<Application>,
                                      prepares<Application>};
        if constexpr (has_others<Application>) line.options = application.options();
        // A prepared transaction holds its locks until its whole window is decided.
        if constexpr (prepares<Application>) given.pace.window = 1;
        auto const ended = read_command_line(line, argc, argv, given);
        if (ended) return *ended;
        check_named_files(given);
        return run(given);
    });
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
        complain(Application::name, "the output could not be written");
        code = worse(code, exit_code::unsettled);
    }
    return static_cast<int>(code);
}

} // namespace detail

/// The whole program: reads the command line, opens the store, calls the commands.
template <typename Application>
int main_of(Application application, linked_store const& linked, int argc, char** argv) {
    return detail::main_of(application, argc, argv, [&](settings& given) {
        auto const* const server = server_of(given.store.kind);
        if (server != linked.server) {
            if (linked.server == nullptr) become_store_program(Application::name, *server, argv);
            throw std::runtime_error(fmt::format("this program is for a store {0}://…; use '{1}', "
                                                 "which is for all",
                                                 linked.server->name, Application::name));
        }
        return call_all(application, linked, given);
    });
}
/// The same for an application that opens its databases itself.
template <typename Application>
int main_of(Application application, int argc, char** argv) {
    return detail::main_of(application, argc, argv, [&](settings const& given) {
        interrupt interrupted;
        return application.visit_store(
            [&](auto& store) { return call_all(application, store, given, interrupted); });
    });
}

} // namespace samples
