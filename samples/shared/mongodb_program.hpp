// SPDX-License-Identifier: BSL-1.0
// Passes a command line to the program that is linked with MongoDB's client.
#pragma once

#include <string_view>

namespace samples {

/// Executes the program of this name with the suffix `-mongodb`, in this program's directory.
/// MongoDB's client takes shared memory as soon as it is loaded; a program with another store must
/// not depend on that.
/// Errors:  std::runtime_error when there is no such program
[[noreturn]] void become_mongodb_program(std::string_view name, char** argv);

} // namespace samples
