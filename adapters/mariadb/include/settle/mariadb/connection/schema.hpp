// SPDX-License-Identifier: BSL-1.0
// The library's own tables in a database.
#pragma once

#include <settle/adapter/sql/metadata_table.hpp>
#include <settle/mariadb/connection/parts.hpp>
#include <settle/store/seam.hpp>

SETTLE_BEGIN
namespace mariadb {

/// The version of the tables settle_…; it changes when older libraries cannot use them.
inline constexpr std::string_view schema_version = "1";

namespace detail {

using metadata_table = settle::detail::sql::metadata_table<parts>;

/// Tables that are made together. The table `<prefix>meta` has values about the others.
struct own_tables {
    std::string_view prefix;
    std::string_view version;
    /// The statements that create the others. A CREATE TABLE ends with its last column.
    /// Shape:   schema - with the dot after it, as SQL takes it
    std::vector<std::string> (*create)(std::string const& schema);
};

/// The tables of records and of the log.
[[nodiscard]] own_tables const& database_tables() noexcept;

/// Creates the tables, if they do not exist. Returns the values about them.
/// Errors:  throws settle::failure; errc::other_version for tables that this library cannot use
metadata_table prepare_schema(pool& from, own_tables const& tables = database_tables());

/// Runs a query about the server or its tables.
/// Shape:   phase - a literal
template <typename Take, typename... Values>
void ask(pool& from, std::string const& sql, char const* phase, Take&& take,
         Values const&... values) {
    auto const& query =
        from.prepare(sql, settle::detail::sql::parameter_types(sizeof...(Values)), phase);
    auto session = from.take();
    auto const number = session->send(query, std::string_view{values}...);
    session->sync();
    take(session->result(number));
}

/// The kept home of the log, and its present home.
[[nodiscard]] log_home look_home(pool& from);

} // namespace detail
} // namespace mariadb
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/mariadb/connection/schema.ipp>
#endif
