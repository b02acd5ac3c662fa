// SPDX-License-Identifier: BSL-1.0
// The store mongodb://….
#pragma once

#include "application.hpp"
#include "linked_store.hpp"
#include "mongodb_collections.hpp"

#include <settle/mongodb/kind.hpp>
#include <settle/mongodb/tutorial/tutorial.hpp>

namespace samples {

/// Shape:   Tutorial - of the application: the type that programs of MongoDB's tutorial ran, and
///          their layout(), or layout(address) where it depends on the documents
template <typename Tutorial>
settle::any_database open_mongodb(store_address const& address,
                                  std::span<std::string_view const> tables, bool may_create) {
    settle::any_database opened{address.path, {settle::mongodb::kind()}};
    check_collections(address.path, tables, may_create, Tutorial::layout().transactions);
    return opened;
}

template <typename Tutorial>
exit_code call_tutorial(settings const& given, interrupt const& interrupted) {
    auto const& address = given.store.path;
    auto const layout = [&] {
        if constexpr (requires { Tutorial::layout(address); }) return Tutorial::layout(address);
        else return Tutorial::layout();
    }();
    settle::mongodb::tutorial_database<Tutorial::type> store{address, layout};
    check_collections(address, Tutorial::tables, false);
    Tutorial old;
    return call_all(old, store, given, interrupted);
}

template <typename Tutorial>
inline linked_store const mongodb_store{server_of(store_kind::mongodb), &open_mongodb<Tutorial>,
                                        &call_tutorial<Tutorial>};

} // namespace samples
