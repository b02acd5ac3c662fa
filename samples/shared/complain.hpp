// SPDX-License-Identifier: BSL-1.0
// Says on stderr what is wrong, also where stderr is closed or full.
#pragma once

#include "printable.hpp"

#include <cstdio>
#include <string>
#include <string_view>

#include <fcntl.h>
#include <unistd.h>

namespace samples {

/// A standard descriptor that is closed would be given to the next file or connection, and what is
/// meant for a person would be written there. Now such a write fails, as it should.
inline void occupy_standard_descriptors() noexcept {
    int given = 0;
    while (given >= 0 && given <= STDERR_FILENO) given = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (given > STDERR_FILENO) ::close(given);
}

/// A stderr that is closed or full keeps no program from its end and its exit code.
inline void write_to_stderr(std::string_view text) noexcept {
    static_cast<void>(std::fwrite(text.data(), 1, text.size(), stderr));
}

/// One sentence, with the program's name before it, as a person may be shown it.
inline void complain(std::string_view program, std::string_view sentence) {
    write_to_stderr(std::string{program}.append(": ").append(printable(sentence)).append("\n"));
}

} // namespace samples
