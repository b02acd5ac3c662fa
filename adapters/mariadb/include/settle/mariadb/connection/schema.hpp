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

/// Creates the tables of records and of the log, if they do not exist.
/// Errors:  throws settle::failure; errc::other_version for tables that this library cannot use
void prepare_schema(pool& from);

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
