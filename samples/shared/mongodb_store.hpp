// SPDX-License-Identifier: BSL-1.0
// The store mongodb://….
#pragma once

#include "application.hpp"
#include "store.hpp"

#include <settle/mongodb/kind.hpp>
#include <settle/mongodb/tutorial/tutorial.hpp>

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

/// Shape:   Tutorial - of the application: the type that programs of MongoDB's tutorial ran, and
///          layout(address), their layout in a database, or the usual one where it is empty
template <typename Tutorial>
inline linked_store const mongodb_store{
    "mongodb",
    [](std::string const& address, std::span<std::string_view const> tables, bool may_create) {
        settle::any_database opened{address, {settle::mongodb::kind()}};
        check_collections(address, tables, may_create, Tutorial::layout("").transactions);
        return opened;
    },
    [](settings const& settings, interrupt const& interrupted) {
        settle::mongodb::tutorial_database<Tutorial::type> store{settings.store,
                                                                 Tutorial::layout(settings.store)};
        check_collections(settings.store, Tutorial::tables, false);
        Tutorial old;
        return call_all(old, store, settings, interrupted);
    }};

} // namespace samples
