// SPDX-License-Identifier: BSL-1.0
// Entries of the log as text and as JSON, for `list` and `show`.
#pragma once

#include <settle/protocol/entry.hpp>

#include <string>

namespace samples {

/// The head of the table that `list` prints.
std::string list_head();

/// One line of that table.
std::string list_line(settle::entry const& entry);

/// All that the log knows of one transaction, a line for each thing.
std::string to_text(settle::entry const& entry);

/// The same as JSON on one line.
/// Shape:   indent - by so much, on many lines, where it is not below 0
std::string to_json_text(settle::entry const& entry, int indent = -1);

} // namespace samples
