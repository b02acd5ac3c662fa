// SPDX-License-Identifier: BSL-1.0
// The exit codes of a sample.
#pragma once

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
constexpr exit_code worse(exit_code left, exit_code right) {
    return static_cast<int>(left) < static_cast<int>(right) ? right : left;
}

} // namespace samples
