// SPDX-License-Identifier: BSL-1.0
// Finds the other program in the directory of this program.
#include "store_program.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <system_error>

#include <unistd.h>

namespace samples {

void become_store_program(std::string_view name, server_kind const& server, char** argv) {
    std::error_code failed;
    auto const own = std::filesystem::read_symlink("/proc/self/exe", failed);
    auto const other = own.parent_path() / fmt::format("{}-{}", name, server.name);
    // The counters of MongoDB's client serve only its own tools. Where shared memory is full, they
    // would end the process with SIGBUS.
    ::setenv("MONGOC_DISABLE_SHM", "1", 0);
    ::execv(other.c_str(), argv);
    auto const error = errno;
    throw std::runtime_error(
        error == ENOENT
            ? fmt::format(
                  "{}: there is no such program; 'samples/run.sh {} --store {}://…' builds it",
                  other.string(), name, server.name)
            : fmt::format("{}: cannot be started: {}", other.string(),
                          std::error_code(error, std::generic_category()).message()));
}

} // namespace samples
