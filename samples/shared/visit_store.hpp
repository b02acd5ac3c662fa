// SPDX-License-Identifier: BSL-1.0
// Opens the store that an address names, so that an application is written once for all stores.
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
inline constexpr bool with_mongodb = true; // and without any other store: see mongodb_program.hpp

/// Calls visit(store) with the store of the address; a store that joins the samples joins here.
/// Shape:   Application - its tables are those by which its database is known, its tutorial says
///          which collection only programs of MongoDB's tutorial have;
///          may_create - whether a database that is not there is made
/// Errors:  std::runtime_error when there is no such database or it cannot be used
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
/// Shape:   Tutorial - of the application: the type that they ran, and their layout(), or
///          layout(address) where documents differ
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
    // Looking at a database that is not there would make an empty one, and hide a slip of the pen.
    check_database_file(address.path, Application::tables, may_create);
    settle::sqlite::database store{address.path};
    return visit(store);
}
#endif

} // namespace samples
