// SPDX-License-Identifier: BSL-1.0
// Text from files, stores and command lines as it may be shown to a person.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace samples {

/// The bytes at the front that no reader sees: a character of no width, a no-break space, a mark
/// that turns the direction of writing. 0 where a visible character, or an ASCII one, begins.
std::size_t unseen_prefix(std::string_view text);

/// The text with all that would not be shown as it is written out: `\n`, `\x1b`, `\u{202e}`, and
/// `\\` for a backslash. So no text can forge a line, move the cursor or pass for another.
std::string printable(std::string_view text);

} // namespace samples
