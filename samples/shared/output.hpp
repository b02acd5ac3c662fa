// SPDX-License-Identifier: BSL-1.0
// Prints lines, and the sentences of exceptions with their exit codes.
#pragma once

#include "complain.hpp"
#include "exit_code.hpp"
#include "input_error.hpp"
#include "printable.hpp"
#include "sentence.hpp"

#include <fmt/format.h>

#include <exception>
#include <string_view>

namespace samples {

/// Prints a line with escaped ids and names.
inline void print_line(std::string_view text) { fmt::print("{}\n", printable(text)); }

/// Prints an account's amount, in two columns.
inline void print_amount(std::string_view name, std::string_view amount) {
    fmt::print("{:<20} {:>16}\n", printable(name), amount);
}

/// The result of a call; if it throws, prints why and returns the program's exit code.
template <typename Function>
exit_code code_of(std::string_view program, Function&& function) {
    try {
        return function();
    } catch (input_error const& error) {
        complain(program, error.what());
        return exit_code::refused;
    } catch (std::exception const& error) {
        complain(program, without_prefix(error.what()));
        return exit_code::unsettled;
    }
}

} // namespace samples
