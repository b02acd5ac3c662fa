// SPDX-License-Identifier: BSL-1.0
// What a sample prints, its errors, and its exit codes.
#pragma once

#include "interrupt.hpp"

#include <settle/base/error.hpp>

#include <fmt/format.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace samples {

/// The exit codes of a sample: errors#conditions-and-exit-codes.
enum class exit_code : int {
    settled = 0,     // all input was read and settled; canceled is an outcome, no failure
    refused = 1,     // input was refused, `check` found an error, or a named entry or record is
                     // missing, or the command is not allowed
    wrong_usage = 2, // the command line is invalid
    unsettled = 3,   // the store was unreachable, a transaction is undecided or was not run, or
                     // a later command was not begun
};

/// The worse of two codes.
constexpr exit_code worse(exit_code left, exit_code right) { return left < right ? right : left; }

/// An unusable file, line or value; what() is one sentence for the user.
class input_error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// The text with invisible characters escaped, as in `\n` or `\u202e`: so no text can forge a line
/// or control the terminal.
std::string printable(std::string_view text);

/// A count with separators: 6471 is `6,471`.
std::string with_commas(std::uint64_t count);

/// The sentence without the prefix `settle: `: a sample puts its own name there.
inline std::string_view without_prefix(std::string_view sentence) {
    constexpr std::string_view prefix = "settle: ";
    if (sentence.starts_with(prefix)) sentence.remove_prefix(prefix.size());
    return sentence;
}

inline std::string sentence_of(settle::error const& problem) {
    return std::string{without_prefix(problem.message())};
}

/// The error behind a cancel, as the end of a sentence; empty if there is none.
inline std::string cause_of(settle::error const& problem) {
    return problem.empty() ? std::string{} : ": " + sentence_of(problem);
}

/// Writes to standard output. A request to stop ends it where the reader of the output does not
/// read. Errors:  throws std::system_error
template <typename... Values>
void print(fmt::format_string<Values...> format, Values&&... values) {
    file_wait const waiting;
    fmt::print(format, std::forward<Values>(values)...);
}

/// Sends what was printed to the reader of the output.
/// Errors:  throws std::system_error
inline void flush_output() {
    file_wait const waiting;
    if (std::fflush(stdout) != 0) {
        throw std::system_error(errno, std::generic_category(), "the output could not be written");
    }
}

/// Prints a line with escaped ids and names.
inline void print_line(std::string_view text) { print("{}\n", printable(text)); }

/// Prints a line of `check`.
inline void print_finding(bool well, std::string_view what, std::string_view found) {
    print("{} {:<11} {}\n", well ? "ok " : "BAD", what, found);
}

/// Prints a sentence after the program's name. A closed stderr must not change the exit code.
inline void complain(std::string_view program, std::string_view sentence) {
    auto const line = fmt::format("{}: {}\n", program, printable(sentence));
    static_cast<void>(std::fwrite(line.data(), 1, line.size(), stderr));
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
