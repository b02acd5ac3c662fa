// SPDX-License-Identifier: BSL-1.0
// Inspects the collections of a MongoDB database before settle binds them.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace samples {

/// Refuses a database with collections but none of `expected`, and a database that only the
/// tutorial's programs have used.
/// Shape:   address - of a server that answers; may_create - whether an empty database is accepted;
///          tutorial_log - the tutorial's collection of transactions; empty where it is expected
/// Errors:  std::runtime_error, with a sentence
void check_collections(std::string const& address, std::span<std::string_view const> expected,
                       bool may_create, std::string_view tutorial_log = {});

/// Whether a document of a collection has a field.
/// Errors:  std::runtime_error, with a sentence
bool has_field(std::string const& address, std::string_view collection, std::string_view field);

} // namespace samples
