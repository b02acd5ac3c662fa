// SPDX-License-Identifier: BSL-1.0
// Says on stderr what is wrong, whatever stderr is.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace samples {

/// A stderr that is closed or full keeps no program from its end and its exit code.
inline void write_to_stderr(std::string_view text) noexcept {
    static_cast<void>(std::fwrite(text.data(), 1, text.size(), stderr));
}

/// One sentence, with the program's name before it.
inline void complain(std::string_view program, std::string_view sentence) {
    write_to_stderr(std::string{program}.append(": ").append(sentence).append("\n"));
}

} // namespace samples
