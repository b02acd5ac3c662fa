// SPDX-License-Identifier: BSL-1.0
// Opens the store of an address, so that an application is independent of the store.
#pragma once

#include "store_address.hpp"

#if SAMPLES_WITH_MONGODB
#include "mongodb_collections.hpp"

#include <settle/mongodb.hpp>
#include <settle/mongodb/tutorial.hpp>
#else
#include "database_file.hpp"

#include <settle/memory.hpp>
#include <settle/sqlite.hpp>
#endif

#include <stdexcept>

namespace samples {

#if SAMPLES_WITH_MONGODB
inline constexpr bool with_mongodb = true; // and no other store: see mongodb_program.hpp

/// Calls visit(store) with the store of the address; a new store of the samples is added here.
/// Shape:   Application - its tables identify its database, its tutorial names the collection that
///          only programs of MongoDB's tutorial have; may_create - whether a missing database is
///          created
/// Errors:  std::runtime_error when the database is missing or unusable
template <typename Application, typename Visitor>
auto visit_store(store_address const& address, bool may_create, Visitor&& visit) {
    if (address.kind != store_kind::mongodb) {
        throw std::runtime_error("this program is for a store mongodb://…; the one without "
                                 "-mongodb in its name is for all");
    }
    settle::mongodb::database store{address.path};
    check_collections(address.path, Application::tables, may_create,
                      Application::tutorial::layout().transactions);
    return visit(store);
}

/// Calls visit(store) with a database that the tutorial's programs have used.
/// Shape:   Tutorial - of the application: the type that these programs ran, and their layout(), or
///          layout(address) where it depends on the documents
template <typename Tutorial, typename Visitor>
auto visit_tutorial(store_address const& address, Visitor&& visit) {
    auto const layout = [&] {
        if constexpr (requires { Tutorial::layout(address.path); }) {
            return Tutorial::layout(address.path);
        } else {
            return Tutorial::layout();
        }
    }();
    settle::mongodb::tutorial_database<Tutorial::type> store{address.path, layout};
    check_collections(address.path, Tutorial::tables, false);
    return visit(store);
}
#else
inline constexpr bool with_mongodb = false;

template <typename Application, typename Visitor>
auto visit_store(store_address const& address, bool may_create, Visitor&& visit) {
    if (address.kind == store_kind::memory) {
        settle::memory::database store;
        return visit(store);
    }
    // Opening a missing database would create it, and hide a mistyped path.
    check_database_file(address.path, Application::tables, may_create);
    settle::sqlite::database store{address.path};
    return visit(store);
}
#endif

} // namespace samples
