// SPDX-License-Identifier: BSL-1.0
// Escapes text from files, stores and command lines for display.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace samples {

/// The size of the invisible prefix: characters of no width, no-break spaces, direction marks. 0
/// where a visible or an ASCII character begins.
std::size_t unseen_prefix(std::string_view text);

/// The text with invisible characters escaped: `\n`, `\x1b`, `\u{202e}`, and `\\` for a backslash.
/// So no text can forge a line, move the cursor or pass for another text.
std::string printable(std::string_view text);

} // namespace samples
