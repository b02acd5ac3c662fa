// SPDX-License-Identifier: BSL-1.0
// The database of a receiver in MariaDB: its rows, beside the service's own tables.
#pragma once

#include <settle/adapter/sql/receiver_database.hpp>
#include <settle/mariadb/connection/parts.hpp>
#include <settle/receiver.hpp>

SETTLE_BEGIN
namespace mariadb {
namespace detail {

/// The connection of a handler. A statement of another kind than those that read or write rows
/// could commit the work without its row.
class handler_connection final : public sql_connection {
public:
    /// Shape:   phase - as in statement; a literal
    handler_connection(connection& to, char const* phase) noexcept : to_(&to), phase_(phase) {}

private:
    sql_rows run(std::string const& sql, std::span<sql_value const> values) override;

    connection* to_;
    char const* phase_;
};

struct receiver_parts : parts {
    using options = mariadb::options;
    using work_connection = handler_connection;
    static constexpr std::size_t largest_wave = 64;

    static settle::detail::sql::receiver_statements<statement> prepare_receiver(pool& from);
    static void bind_receiver(pool& from, std::string const& name);
    static bool is_fatal(std::error_code const& code) { return is_conflict(code) || is_lost(code); }
};

} // namespace detail

/// The access of a handler to its database, inside the native transaction of the call.
using receiver_session = sql_connection;
using receiver_transaction = settle::detail::sql::receiver_transaction<detail::receiver_parts>;

/// The database of a service in MariaDB. The table settle_receiver is beside the service's own
/// tables, which the service creates itself.
/// Shape:   address - as for mariadb::database; name - of the receiver. A database belongs to the
///          first receiver that opened it
/// Errors:  the constructor throws settle::failure with one sentence
/// Cost:    a wave of calls is one native transaction: two round trips, the handler's own, and one
///          more for each handler
using receiver_database = settle::detail::sql::receiver_database<detail::receiver_parts>;

} // namespace mariadb
#ifdef SETTLE_COMPILED
extern template class detail::sql::receiver_transaction<mariadb::detail::receiver_parts>;
extern template class detail::sql::receiver_database<mariadb::detail::receiver_parts>;
#endif
SETTLE_END

#ifndef SETTLE_COMPILED
#include <settle/mariadb/receiver/receiver.ipp>
#endif
