// SPDX-License-Identifier: BSL-1.0
// Passes a command line to the program that is linked with the client of a server.
#pragma once

#include "store_address.hpp"

#include <string_view>

namespace samples {

/// Executes the program of this name with the server's name after it, in this program's directory.
/// A server's client loads many libraries, and MongoDB's takes shared memory as soon as it is
/// loaded; a program with another store must not depend on that.
/// Errors:  std::runtime_error when there is no such program
[[noreturn]] void become_store_program(std::string_view name, server_kind const& server,
                                       char** argv);

} // namespace samples
