// SPDX-License-Identifier: BSL-1.0
// Inspects the tables of a PostgreSQL database before settle binds them.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace samples {

/// Refuses a schema with tables but none of `tables`.
/// Shape:   address - of a server that answers; may_create - whether an empty schema is accepted
/// Errors:  std::runtime_error, with a sentence
void check_tables(std::string const& address, std::span<std::string_view const> tables,
                  bool may_create);

} // namespace samples
