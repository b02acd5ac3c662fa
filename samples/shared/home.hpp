// SPDX-License-Identifier: BSL-1.0
// The answer of a person for a log that is elsewhere.
#pragma once

#include "report.hpp"
#include "settings.hpp"
#include "text.hpp"

#include <settle/settle.hpp>

#include <fmt/format.h>

#include <utility>

namespace samples {

/// Says that the log was moved, or closes it as a copy.
/// Errors:  settle::failure
template <typename Application, typename Store>
exit_code answer_for_home(Application& application, Store& store, settle::phases how,
                          bool was_copied) {
    if (was_copied) {
        auto const closed = application.with_arguments(store, how, [](auto&&... arguments) {
            return settle::close_copied_log(std::forward<decltype(arguments)>(arguments)...);
        });
        print("closed: {} canceled, {} done\n", with_commas(closed.canceled),
              with_commas(closed.done));
        for (auto const& [id, problem] : closed.skipped) {
            print_line(fmt::format("  {}: {}", id, sentence_of(problem)));
        }
        if (!closed.problem.empty()) throw settle::failure(closed.problem);
    } else {
        settle::accept_moved_log(store).value();
    }
    print("the log is at home here\n");
    return exit_code::settled;
}

} // namespace samples
