// SPDX-License-Identifier: BSL-1.0
// Looks into a SQLite file before settle opens it: a slip of the pen must not put a bank's tables
// into the file of another program.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace samples {

/// Refuses a file that is not there, or that holds tables and none of these. What is no database,
/// or cannot be read, is left to settle, which says so.
/// Shape:   may_create - whether a file that is not there, or is still empty, will do
/// Errors:  std::runtime_error, with a sentence
void check_database_file(std::string const& path, std::span<std::string_view const> tables,
                         bool may_create);

} // namespace samples
