// SPDX-License-Identifier: BSL-1.0
// Looks at the collections of a MongoDB database before settle binds them: a slip of the pen must
// not put a bank's into the database of another program.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace samples {

/// Refuses a database that holds collections and none of these, and one in which only programs of
/// MongoDB's tutorial have been.
/// Shape:   address - of a server that answers; may_create - whether an empty database will do;
///          theirs - the collection of those programs' transactions; empty where they are expected
/// Errors:  std::runtime_error, with a sentence
void check_collections(std::string const& address, std::span<std::string_view const> wanted,
                       bool may_create, std::string_view theirs = {});

/// Whether a document of a collection has a field.
/// Errors:  std::runtime_error, with a sentence
bool has_field(std::string const& address, std::string_view collection, std::string_view field);

} // namespace samples
