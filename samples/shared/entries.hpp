// SPDX-License-Identifier: BSL-1.0
// Entries of the log as text and as JSON, for `list`, `show` and `stuck`.
#pragma once

#include <settle/protocol/entry.hpp>
#include <settle/running/driving/call_pauses.hpp>

#include <string>
#include <vector>

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

/// Entries, and the pauses of calls beside them, as JSON.
std::string to_json_text(std::vector<settle::entry> const& entries,
                         std::vector<settle::call_pause> const& pauses);

} // namespace samples
