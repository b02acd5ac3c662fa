// SPDX-License-Identifier: BSL-1.0
// Writes errors to stderr, which may be closed or full.
#pragma once

#include "printable.hpp"

#include <cstdio>
#include <string>
#include <string_view>

#include <fcntl.h>
#include <unistd.h>

namespace samples {

/// A closed standard descriptor would be reused by the next file or connection, and messages would
/// be written there. Now such a write fails.
inline void occupy_standard_descriptors() noexcept {
    int given = 0;
    while (given >= 0 && given <= STDERR_FILENO) given = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (given > STDERR_FILENO) ::close(given);
}

/// A closed or full stderr must not change the program's end or exit code.
inline void write_to_stderr(std::string_view text) noexcept {
    static_cast<void>(std::fwrite(text.data(), 1, text.size(), stderr));
}

/// Prints an escaped sentence after the program's name.
inline void complain(std::string_view program, std::string_view sentence) {
    write_to_stderr(std::string{program}.append(": ").append(printable(sentence)).append("\n"));
}

} // namespace samples
