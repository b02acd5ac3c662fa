// SPDX-License-Identifier: BSL-1.0
// The store postgresql://….
#include "store.hpp"

#include <settle/postgresql/kind.hpp>

#include <fmt/format.h>
#include <libpq-fe.h>

#include <array>
#include <memory>
#include <stdexcept>

namespace samples {

namespace {

[[noreturn]] void fail(PGconn const* connection) {
    std::string text = PQerrorMessage(connection);
    while (text.ends_with('\n')) text.pop_back();
    throw std::runtime_error(
        fmt::format("PostgreSQL could not list the tables: {}. See postgresql#errors", text));
}

void check_tables(std::string const& address, std::span<std::string_view const> tables,
                  bool may_create) {
    // A later value replaces an earlier one, so the address can have a limit of its own.
    std::array<char const*, 4> const names{"connect_timeout", "client_encoding", "dbname", nullptr};
    std::array<char const*, 4> const values{"5", "UTF8", address.c_str(), nullptr};
    std::unique_ptr<PGconn, decltype(&PQfinish)> const session{
        PQconnectdbParams(names.data(), values.data(), 1), &PQfinish};
    if (PQstatus(session.get()) != CONNECTION_OK) fail(session.get());
    // Tables, partitioned and foreign ones, and views.
    constexpr char const* query =
        "SELECT relname FROM pg_catalog.pg_class WHERE relnamespace = pg_catalog.to_regnamespace("
        "pg_catalog.quote_ident(pg_catalog.current_schema())) AND relkind IN ('r', 'p', 'f', 'v', "
        "'m') AND NOT pg_catalog.starts_with(relname, 'settle_') ORDER BY relname";
    std::unique_ptr<PGresult, decltype(&PQclear)> const rows{PQexec(session.get(), query),
                                                             &PQclear};
    if (PQresultStatus(rows.get()) != PGRES_TUPLES_OK) fail(session.get());
    std::vector<std::string> existing;
    for (int row = 0; row < PQntuples(rows.get()); ++row) {
        existing.emplace_back(PQgetvalue(rows.get(), row, 0));
    }
    check_own(PQdb(session.get()), "table", existing, tables, may_create);
}

} // namespace

linked_store const postgresql_store{
    "postgresql",
    [](std::string const& address, std::span<std::string_view const> tables, bool may_create) {
        settle::any_database opened{address, {settle::postgresql::kind()}};
        check_tables(address, tables, may_create);
        return opened;
    }};

} // namespace samples
