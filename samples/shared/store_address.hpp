// SPDX-License-Identifier: BSL-1.0
// The store of a command line: `--store sqlite:bank.db`, `--store memory:`, or the address of a
// server's database.
#pragma once

#include <string>
#include <string_view>

namespace samples {

enum class store_kind { memory, sqlite, mongodb, postgresql, mariadb };

/// A kind of store that is a server. Programs with its client are separate: see store_program.hpp.
struct server_kind {
    store_kind kind;
    std::string_view name;    ///< of the server, and the end of the programs' names
    std::string_view address; ///< the form of an address
};

/// The kind of a server; null for another kind of store.
server_kind const* server_of(store_kind kind);

/// The kind of a store and its location: for sqlite the path of its file, for a server the whole
/// address, for memory nothing.
struct store_address {
    store_kind kind = store_kind::memory;
    std::string path;

    friend bool operator==(store_address const&, store_address const&) = default;
};

/// The forms of the addresses, for people.
/// Shape:   has_servers - whether the program has stores that are servers
std::string known_stores(bool has_servers);

/// Reads an address.
/// Errors:  input_error, with a sentence that lists the forms of the addresses, without a password
store_address parse_store_address(std::string_view text, bool has_servers = true);

} // namespace samples
