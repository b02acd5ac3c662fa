// SPDX-License-Identifier: BSL-1.0
// The stores that a program is linked with; its main() chooses them.
#pragma once

#include "exit_code.hpp"
#include "interrupt.hpp"
#include "settings.hpp"
#include "store_address.hpp"

#include <memory>
#include <span>
#include <string_view>

namespace samples {

/// Shape:   Store - an any_store of an application's collections
template <typename Store>
struct linked_stores {
    /// The server; null for the stores without a server.
    server_kind const* server;
    /// Opens the store of an address.
    /// Shape:   tables - of the application: a database with others, and none of these, is refused;
    ///          may_create - whether a missing database is created
    /// Errors:  throws a std::exception with a sentence
    std::unique_ptr<Store> (*open)(store_address const& address,
                                   std::span<std::string_view const> tables, bool may_create);
    /// Calls the requested commands on leftovers of MongoDB's tutorial, if the store can have them.
    exit_code (*call_tutorial)(settings const& given, interrupt const& interrupted) = nullptr;
};

} // namespace samples
