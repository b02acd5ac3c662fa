// SPDX-License-Identifier: BSL-1.0
// Whether a database is an application's own: a mistyped address must not put a bank's tables into
// another program's database.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace samples {

/// Refuses a database with tables but none of `tables`.
/// Shape:   database - its name for people; noun - "table" or "collection"; existing - the
///          database's tables without the tables of settle; may_create - whether a database without
///          tables is accepted
/// Errors:  std::runtime_error, with a sentence
void check_own(std::string_view database, std::string_view noun,
               std::vector<std::string> const& existing, std::span<std::string_view const> tables,
               bool may_create);

} // namespace samples
