// SPDX-License-Identifier: BSL-1.0
// Finds the other program in the directory of this program.
#include "mongodb_program.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <system_error>

#include <unistd.h>

namespace samples {

void become_mongodb_program(std::string_view name, char** argv) {
    std::error_code failed;
    auto const own = std::filesystem::read_symlink("/proc/self/exe", failed);
    auto const other = own.parent_path() / fmt::format("{}-mongodb", name);
    // The client's counters serve only its own tools. Where shared memory is full, they would end
    // the process with SIGBUS.
    ::setenv("MONGOC_DISABLE_SHM", "1", 0);
    ::execv(other.c_str(), argv);
    auto const error = errno;
    throw std::runtime_error(
        error == ENOENT
            ? fmt::format("{}: there is no such program; it is built where MongoDB's driver "
                          "(libmongoc-dev) is installed",
                          other.string())
            : fmt::format("{}: cannot be started: {}", other.string(),
                          std::error_code(error, std::generic_category()).message()));
}

} // namespace samples
