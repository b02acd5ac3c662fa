// SPDX-License-Identifier: BSL-1.0
// What a sample tells the shell when it ends.
#pragma once

namespace samples {

/// The exit codes of a sample: errors#conditions-and-exit-codes.
enum class exit_code : int {
    settled = 0,      // everything was read and settled; canceled is an outcome and no failure
    refused = 1,      // input was refused, `check` found something wrong, or what was asked for is
                      // not there or not allowed
    wrong_usage = 2,  // the command line cannot be understood
    unsettled = 3,    // the store could not be reached, something is left undecided or unrun, or
                      // a later command was not begun
};

/// The graver of the two; a sample that meets both ends with this one.
constexpr exit_code worse(exit_code left, exit_code right) {
    return static_cast<int>(left) < static_cast<int>(right) ? right : left;
}

}  // namespace samples
