// SPDX-License-Identifier: BSL-1.0
// The stores that a program is linked with; its main() chooses them.
#pragma once

#include "exit_code.hpp"
#include "interrupt.hpp"
#include "settings.hpp"
#include "store_address.hpp"

#include <settle/adapter/any_database.hpp>

#include <span>
#include <string_view>

namespace samples {

struct linked_store {
    /// The server; null for the stores without a server.
    server_kind const* server;
    /// Opens the store of an address.
    /// Shape:   tables - of the application: a database with others, and none of these, is refused;
    ///          may_create - whether a missing database is created
    /// Errors:  throws a std::exception with a sentence
    settle::any_database (*open)(store_address const& address,
                                 std::span<std::string_view const> tables, bool may_create);
    /// Calls the requested commands on leftovers of MongoDB's tutorial, if the store can have them.
    exit_code (*call_tutorial)(settings const& given, interrupt const& interrupted) = nullptr;
};

/// memory: and sqlite:.
extern linked_store const file_store;
/// postgresql://…, for programs that are linked with its client.
extern linked_store const postgresql_store;
/// mariadb://…, the same.
extern linked_store const mariadb_store;

/// The tables of a database, in the order of their names, without the tables of settle.
struct database_tables {
    std::string database;
    std::vector<std::string> names;
};

} // namespace samples
