// SPDX-License-Identifier: BSL-1.0
// Inspects a SQLite file before settle opens it.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace samples {

/// Refuses a missing file, and a file with tables but none of `tables`. settle itself refuses an
/// unreadable file.
/// Shape:   may_create - whether a missing or empty file is accepted
/// Errors:  std::runtime_error, with a sentence
void check_database_file(std::string const& path, std::span<std::string_view const> tables,
                         bool may_create);

} // namespace samples
