// SPDX-License-Identifier: BSL-1.0
// Looks at the collections of a MongoDB database before settle binds them: a slip of the pen must
// not put a bank's into the database of another program.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace samples {

/// Refuses a database that holds collections and none of these.
/// Shape:   address - of a server that answers; may_create - whether an empty database will do
/// Errors:  std::runtime_error, with a sentence
void check_collections(std::string const& address, std::span<std::string_view const> wanted,
                       bool may_create);

} // namespace samples
