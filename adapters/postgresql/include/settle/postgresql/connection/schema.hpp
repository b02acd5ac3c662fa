// SPDX-License-Identifier: BSL-1.0
// The library's own tables in a schema of a database.
#pragma once

#include <settle/adapter/sql/metadata_table.hpp>
#include <settle/postgresql/connection/parts.hpp>
#include <settle/store/seam.hpp>

SETTLE_BEGIN
namespace postgresql {

/// The version of the tables settle_…; it changes when older libraries cannot use them.
inline constexpr std::string_view schema_version = "1";

namespace detail {

/// Tables that are made together. The table `<prefix>meta` has values about the others.
struct own_tables {
    std::string_view prefix;
    std::string_view version;
    /// Creates the other tables.
    /// Shape:   schema - with the dot after it, as SQL takes it
    void (*create)(connection& connection, std::string const& schema);
};

/// The tables of records and of the log.
[[nodiscard]] own_tables const& database_tables() noexcept;

/// Creates the tables, if they do not exist.
/// Errors:  throws settle::failure; errc::other_version for tables that this library cannot use
void prepare_schema(pool& pool, own_tables const& tables = database_tables());

/// The values about the tables.
[[nodiscard]] settle::detail::sql::metadata_table<parts>
metadata(pool& pool, own_tables const& tables = database_tables());

/// The kept home of the log, and its present home.
[[nodiscard]] log_home look_home(pool& pool);

} // namespace detail
} // namespace postgresql
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/postgresql/connection/schema.ipp>
#endif
