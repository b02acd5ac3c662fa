// SPDX-License-Identifier: BSL-1.0
// The store postgresql://….
#include "linked_store.hpp"
#include "own_database.hpp"

#include <settle/postgresql/kind.hpp>

#include <fmt/format.h>
#include <libpq-fe.h>

#include <array>
#include <memory>
#include <stdexcept>
#include <vector>

namespace samples {

namespace {

struct closer {
    void operator()(PGconn* held) const noexcept { PQfinish(held); }
    void operator()(PGresult* held) const noexcept { PQclear(held); }
};

[[noreturn]] void fail(PGconn const* connection) {
    std::string text = PQerrorMessage(connection);
    while (text.ends_with('\n')) text.pop_back();
    throw std::runtime_error(
        fmt::format("PostgreSQL could not list the tables: {}. See postgresql#errors", text));
}

/// Errors:  std::runtime_error, with a sentence
database_tables tables_of(std::string const& address) {
    // A later value replaces an earlier one, so the address can have a limit of its own.
    std::array<char const*, 4> const names{"connect_timeout", "client_encoding", "dbname", nullptr};
    std::array<char const*, 4> const values{"10", "UTF8", address.c_str(), nullptr};
    std::unique_ptr<PGconn, closer> const with{PQconnectdbParams(names.data(), values.data(), 1)};
    if (PQstatus(with.get()) != CONNECTION_OK) fail(with.get());
    // Tables, partitioned and foreign ones, and views.
    std::unique_ptr<PGresult, closer> const found{
        PQexec(with.get(), "SELECT relname FROM pg_catalog.pg_class "
                           "WHERE relnamespace = pg_catalog.to_regnamespace("
                           "pg_catalog.quote_ident(pg_catalog.current_schema())) "
                           "AND relkind IN ('r', 'p', 'f', 'v', 'm') "
                           "AND NOT pg_catalog.starts_with(relname, 'settle_') ORDER BY relname")};
    if (PQresultStatus(found.get()) != PGRES_TUPLES_OK) fail(with.get());
    database_tables existing{PQdb(with.get()), {}};
    for (int row = 0; row < PQntuples(found.get()); ++row) {
        existing.names.emplace_back(PQgetvalue(found.get(), row, 0));
    }
    return existing;
}

} // namespace

linked_store const postgresql_store{
    server_of(store_kind::postgresql),
    [](store_address const& address, std::span<std::string_view const> tables, bool may_create) {
        settle::any_database opened{address.path, {settle::postgresql::kind()}};
        auto const existing = tables_of(address.path);
        check_own(existing.database, "table", existing.names, tables, may_create);
        return opened;
    }};

} // namespace samples
