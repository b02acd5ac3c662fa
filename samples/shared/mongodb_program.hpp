// SPDX-License-Identifier: BSL-1.0
// Hands a command line on to the program that is linked with MongoDB's client.
#pragma once

#include <string_view>

namespace samples {

/// Becomes the program of this name with `-mongodb` behind it, which stands beside this one. The
/// client takes memory that is shared with other processes as soon as it is loaded, and a program
/// that uses another store must not depend on that.
/// Errors:  std::runtime_error when there is no such program
[[noreturn]] void become_mongodb_program(std::string_view name, char** argv);

} // namespace samples
