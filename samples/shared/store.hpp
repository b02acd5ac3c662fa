// SPDX-License-Identifier: BSL-1.0
// The stores that a program is linked with, by the address of `--store`.
#pragma once

#include "interrupt.hpp"
#include "settings.hpp"

#include <settle/adapter/any_database.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace samples {

/// The stores of a program; its main() chooses them. A server's client loads many libraries, so
/// only a program for this server is linked with it.
struct linked_store {
    /// The server, as in the program's name; empty for the stores without a server.
    std::string_view server;
    /// Opens the store of an address.
    /// Shape:   tables - of the application: a database with others, and none of these, is refused;
    ///          may_create - whether a missing database is created
    /// Errors:  throws a std::exception with a sentence
    settle::any_database (*open)(std::string const& address,
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

/// The forms of the addresses, for people.
std::string known_stores(bool has_servers);

/// The server of an address; empty for memory: and sqlite:.
/// Errors:  input_error for an address of no known store, with a sentence without its password
std::string_view server_of(std::string_view address, bool has_servers);

/// Executes the program of this name with the server's name after it, in this program's directory.
/// Errors:  std::runtime_error when there is no such program
[[noreturn]] void become_store_program(std::string_view name, std::string_view server, char** argv);

/// Refuses a database with tables but none of `tables`: a mistyped address must not put a bank's
/// tables into another program's database.
/// Shape:   database - its name for people; noun - "table" or "collection"; existing - the
///          database's tables without the tables of settle; may_create - whether a database without
///          tables is accepted
/// Errors:  std::runtime_error, with a sentence
void check_own(std::string_view database, std::string_view noun,
               std::vector<std::string> const& existing, std::span<std::string_view const> tables,
               bool may_create);

} // namespace samples
