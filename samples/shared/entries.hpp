// SPDX-License-Identifier: BSL-1.0
// Entries of the log as text and as JSON, for `list` and `show`.
#pragma once

#include <settle/protocol/entry.hpp>

#include <string>

namespace samples {

/// A time as `2026-11-26 12:10:00Z`.
std::string utc(settle::timestamp when);

/// The heading of `list`.
std::string list_head();

/// One line of `list`.
std::string list_line(settle::entry const& entry);

/// All fields of one entry, each on its own line.
std::string to_text(settle::entry const& entry);

/// The same as JSON.
/// Shape:   indent - below 0: on one line
std::string to_json_text(settle::entry const& entry, int indent = -1);

} // namespace samples
