// SPDX-License-Identifier: BSL-1.0
// The answers to a log that is elsewhere, and an engine on a log that is at home.
#pragma once

#include "exit_code.hpp"
#include "output.hpp"
#include "report.hpp"
#include "sentence.hpp"
#include "settings.hpp"

#include <settle/settle.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace samples {

/// Says that the log was moved, or closes it as a copy.
/// Errors:  settle::failure
template <typename Application, typename Store>
exit_code answer_for_home(Application& application, Store& store, settle::phases how,
                          home_answer answer) {
    if (answer == home_answer::moved) {
        settle::accept_moved_log(store).value();
        fmt::print("the log is at home here\n");
        return exit_code::settled;
    }
    auto const closed = application.with_arguments(store, how, [](auto&&... given) {
        return settle::close_copied_log(std::forward<decltype(given)>(given)...);
    });
    fmt::print("closed: {} canceled, {} done\n", with_commas(closed.canceled),
               with_commas(closed.done));
    constexpr std::size_t most_shown = 20;
    for (std::size_t i = 0; i < std::min(closed.skipped.size(), most_shown); ++i) {
        auto const& [id, problem] = closed.skipped[i];
        print_line(fmt::format("  {}: {}", id, sentence_of(problem)));
    }
    if (closed.skipped.size() > most_shown) {
        fmt::print("  … and {} more\n", with_commas(closed.skipped.size() - most_shown));
    }
    if (!closed.problem.empty()) throw settle::failure(closed.problem);
    fmt::print("the log is at home here\n");
    return exit_code::settled;
}

/// Builds the engine of an application.
/// Errors:  a std::exception; of a log that is elsewhere, its sentence names the commands
template <typename Application, typename Store>
auto engine_at_home(Application& application, Store& store, settle::phases how) {
    try {
        return application.with_arguments(store, how, [](auto&&... given) {
            return settle::engine{std::forward<decltype(given)>(given)...};
        });
    } catch (settle::failure const& refused) {
        if (refused.problem().code != settle::errc::other_home) throw;
        throw std::runtime_error(
            fmt::format("{0}. The commands are '{1} home moved' and '{1} home copied'",
                        sentence_of(refused.problem()), Application::name));
    }
}

} // namespace samples
