// SPDX-License-Identifier: BSL-1.0
// The stores of SQL servers: postgresql://… and mariadb://….
#pragma once

#include "held_store.hpp"
#include "linked_stores.hpp"
#include "own_database.hpp"

namespace samples {

/// The tables of a database, in the order of their names, without the tables of settle.
struct database_tables {
    std::string database;
    std::vector<std::string> names;
};

/// Shape:   address - of a server that answers
/// Errors:  std::runtime_error, with a sentence
database_tables postgresql_tables(std::string const& address);
database_tables mariadb_tables(std::string const& address);

template <typename Store, typename Database, auto* ListTables>
std::unique_ptr<Store> open_sql(store_address const& address,
                                std::span<std::string_view const> tables, bool may_create) {
    auto opened = std::make_unique<held_store<Store, Database>>(address.path);
    auto const existing = ListTables(address.path);
    check_own(existing.database, "table", existing.names, tables, may_create);
    return opened;
}

/// Shape:   Database - of settle; ListTables - a function above
template <typename Store, store_kind Kind, typename Database, auto* ListTables>
inline linked_stores<Store> const sql_store{server_of(Kind),
                                            &open_sql<Store, Database, ListTables>};

} // namespace samples
